package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"

	"hippocampus/internal/memory"
	"hippocampus/internal/memoryfile"
	"hippocampus/internal/wire"
)

// instructions reads the user's active instructions, if the file shows them.
func (s server) instructions(ctx context.Context, of scope) ([]memoryfile.Memory, error) {
	found := []memoryfile.Memory{}
	if !s.form.HasInstructions() || of.agent != "" {
		return found, nil
	}
	var answer struct {
		Instructions []struct {
			wire.Scope
			Name    string `json:"name"`
			Content string `json:"content"`
		} `json:"instructions"`
	}
	path := "/v1/instructions/merged?" + url.Values{"user_id": {of.user}}.Encode()
	err := s.call(ctx, http.MethodGet, path, nil, &answer)
	for _, i := range answer.Instructions {
		if i.Scope.Scope == memory.UserScope {
			found = append(found, memoryfile.Memory{
				ID: memoryfile.IDOfInstruction(i.Name), Type: memoryfile.Instruction, Content: i.Content,
			})
		}
	}
	return found, err
}

// publish makes a text the active version of an instruction.
func (s server) publish(ctx context.Context, of scope, name, text string, done *report) error {
	var answer written
	err := s.call(ctx, http.MethodPost, "/v1/instructions", map[string]string{
		"scope": string(memory.UserScope), "user_id": of.user, "name": name, "content": text, "note": "file",
	}, &answer)
	done.Secrets += len(answer.Secrets)
	return err
}

// publishNew publishes the instructions among bullets, and returns the others.
func (s server) publishNew(
	ctx context.Context, of scope, bullets []*memoryfile.Bullet, present []memoryfile.Memory, done *report,
) (memories []*memoryfile.Bullet, err error) {
	taken := map[string]bool{}
	for _, m := range present {
		if name, ok := memoryfile.NameOfInstruction(m.ID); ok {
			taken[name] = true
		}
	}
	for _, b := range bullets {
		if b.Type != memoryfile.Instruction {
			memories = append(memories, b)
			continue
		}
		name := nameFor(b.Text, taken)
		if err := s.publish(ctx, of, name, b.Text, done); err != nil {
			return nil, fmt.Errorf("line %d: %w", b.Line, err)
		}
		taken[name] = true
		done.add(b, memoryfile.IDOfInstruction(name))
	}
	return memories, nil
}

// retire retires the instructions among ids, and returns the others. Their versions stay.
func (s server) retire(ctx context.Context, of scope, ids []string, done *report) (memories []string, err error) {
	query := url.Values{"scope": {string(memory.UserScope)}, "user_id": {of.user}}.Encode()
	for _, id := range ids {
		name, ok := memoryfile.NameOfInstruction(id)
		if !ok {
			memories = append(memories, id)
			continue
		}
		err := s.call(ctx, http.MethodDelete, "/v1/instructions/"+url.PathEscape(name)+"?"+query, nil, nil)
		if err != nil && !memory.IsKind(err, memory.KindNotFound) {
			return nil, err
		}
		done.Forgotten = append(done.Forgotten, id)
	}
	return memories, nil
}

// nameFor returns a name for an instruction that the file adds: digits of a hash of its text, so that a repeated
// request leads to the same name. It has no words of the text, since an editor that replaces a word in the whole file
// would change them.
func nameFor(text string, taken map[string]bool) string {
	sum := sha256.Sum256([]byte(text))
	digits := hex.EncodeToString(sum[:])
	n := 8
	for taken["file-"+digits[:n]] && n < len(digits) { // by an instruction that had this text before
		n++
	}
	return "file-" + digits[:n]
}
