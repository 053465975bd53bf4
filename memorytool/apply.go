package memorytool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
)

// Source is the entry "source" of the metadata of a paragraph's memory. Its entry "path" is the path of the file.
const Source = "memory-tool"

// apply changes the files and the memories in one transaction. errChanged: the files have changed since they were read.
func (r *run) apply(ctx context.Context) error {
	if r.change.put != nil {
		return r.write(ctx)
	}
	return r.moveOrDelete(ctx)
}

// write stores a new content. Paragraphs that the file had before keep their memories.
func (r *run) write(ctx context.Context) error {
	file := *r.change.put
	if why := memory.CheckFileContent(file.Content); why != "" {
		return refusal(fmt.Sprintf("File %s cannot have this content: it %s", r.command.Path, why))
	}
	texts := Paragraphs(file.Content)
	if len(texts) > memory.MaxFileParagraphs {
		return refusal(fmt.Sprintf("File %s would have %d paragraphs, and at most %d are allowed: "+
			"put some of them into another file", r.command.Path, len(texts), memory.MaxFileParagraphs))
	}
	former := file.Paragraphs
	file.Paragraphs = nil
	rewrite := ingest.Rewrite{Owner: r.scope.Owner, Cause: Source}
	importance := 1.0 // like a bullet of memory.md: the model wrote it to keep it
	var fresh []int   // places in file.Paragraphs, of each of rewrite.Add
	for _, text := range texts {
		p := memory.Paragraph{Hash: hashOf(text)}
		known := slices.IndexFunc(former, func(f memory.Paragraph) bool { return f.Hash == p.Hash })
		if known >= 0 {
			p = former[known]
			former = slices.Delete(slices.Clone(former), known, known+1)
		} else {
			fresh = append(fresh, len(file.Paragraphs))
			rewrite.Add = append(rewrite.Add, ingest.Write{
				Owner: r.scope.Owner, AgentID: r.scope.AgentID, Content: text, Importance: &importance,
				Metadata: withPath(nil, file.Path),
			})
		}
		file.Paragraphs = append(file.Paragraphs, p)
	}
	for _, p := range former {
		rewrite.Forget = append(rewrite.Forget, p.MemoryID)
	}
	rewrite.Last = func(ctx context.Context, tx db.UserTx, added []memory.Memory) error {
		if err := r.recheck(ctx, tx); err != nil {
			return err
		}
		for i, m := range added {
			file.Paragraphs[fresh[i]].MemoryID = m.ID
		}
		return r.store(ctx, tx, file)
	}
	return r.writer.Rewrite(ctx, rewrite)
}

// store stores a file within the limits of its user.
func (r *run) store(ctx context.Context, tx db.UserTx, file memory.File) error {
	file.Owner, file.AgentID = r.scope.Owner, r.scope.AgentID
	file.ChangedAt = memory.Instant(r.now())
	if file.Version == 1 {
		file.CreatedAt = file.ChangedAt
	}
	if err := tx.PutFile(ctx, file, memory.NewID()); err != nil {
		return err
	}
	if err := tx.PruneFileVersions(ctx, file.ID); err != nil {
		return err
	}
	usage, err := tx.FileUsage(ctx)
	if err != nil {
		return err
	}
	if excess := usage.Excess(); excess != "" {
		return refusal(excess)
	}
	return nil
}

// moveOrDelete renames the files that were seen, with the paths of their memories, or deletes them with their memories.
func (r *run) moveOrDelete(ctx context.Context) error {
	from, to := r.change.from, r.change.free
	ids := make([]string, len(r.change.seen))
	for i, e := range r.change.seen {
		ids[i] = e.ID
	}
	files, err := r.records.Files(ctx, r.scope.Owner, ids)
	if err != nil {
		return err
	}
	paths := map[string]string{} // the new path of each memory's file
	rewrite := ingest.Rewrite{Owner: r.scope.Owner, Cause: Source}
	for _, f := range files {
		for _, p := range f.Paragraphs {
			paths[p.MemoryID] = to + strings.TrimPrefix(f.Path, from)
			if to == "" {
				rewrite.Forget = append(rewrite.Forget, p.MemoryID)
			} else {
				rewrite.Edit = append(rewrite.Edit, p.MemoryID)
			}
		}
	}
	rewrite.OnEdit = func(m *memory.Memory) { m.Metadata = withPath(m.Metadata, paths[m.ID]) }
	rewrite.Last = func(ctx context.Context, tx db.UserTx, _ []memory.Memory) error {
		err := r.recheck(ctx, tx)
		for _, e := range r.change.seen {
			switch {
			case err != nil:
			case to == "":
				err = tx.DeleteFile(ctx, e.ID)
			default:
				err = tx.MoveFile(ctx, e.ID, to+strings.TrimPrefix(e.Path, from))
			}
		}
		return err
	}
	return r.writer.Rewrite(ctx, rewrite)
}

// recheck returns errChanged unless the files are as they were read.
func (r *run) recheck(ctx context.Context, tx db.UserTx) error {
	list, err := tx.ListFiles(ctx, r.scope.AgentID)
	if err != nil {
		return err
	}
	c, files := r.change, tree(list)
	if c.from != "" && !slices.Equal(files.within(c.from), c.seen) ||
		c.free != "" && (files.exists(c.free) || files.above(c.free) != "") {
		return errChanged
	}
	return nil
}

// withPath returns metadata with the source and the path of a file.
func withPath(metadata json.RawMessage, path string) json.RawMessage {
	entries := map[string]json.RawMessage{}
	_ = json.Unmarshal(metadata, &entries) // an object or empty
	entries["source"], entries["path"] = literal(Source), literal(path)
	if joined := literal(entries); memory.CheckMetadata(joined) == "" {
		return joined
	}
	return metadata
}

// literal is a value as JSON without HTML escapes, so that no entry becomes longer.
func literal(value any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // strings and valid JSON only: cannot fail
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
