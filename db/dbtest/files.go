package dbtest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// newFile returns a file with every field set.
func newFile(owner memory.Owner, path, content string) memory.File {
	return memory.File{
		ID: memory.NewID(), Owner: owner, Path: path, Version: 1, Content: content,
		Paragraphs: []memory.Paragraph{
			{Hash: "a", MemoryID: memory.NewID()},
			{Hash: "b", MemoryID: memory.NewID()},
		},
		CreatedAt: epoch, ChangedAt: after(1),
	}
}

// again returns the file with another content.
func again(f memory.File, content string) memory.File {
	f.Version++
	f.Content = content
	f.Paragraphs = []memory.Paragraph{{Hash: "c", MemoryID: memory.NewID()}}
	f.ChangedAt = f.ChangedAt.Add(1e9)
	return f
}

// inFiles runs f in a transaction of an owner.
func inFiles(t *testing.T, s db.Store, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error {
	t.Helper()
	return s.InUser(t.Context(), owner, f)
}

// putFiles stores files of one owner, and returns the ids of their versions.
func putFiles(t *testing.T, s db.Store, files ...memory.File) (versions []string) {
	t.Helper()
	must(t, inFiles(t, s, files[0].Owner, func(ctx context.Context, tx db.UserTx) error {
		versions = nil
		for _, f := range files {
			versions = append(versions, memory.NewID())
			if err := tx.PutFile(ctx, f, versions[len(versions)-1]); err != nil {
				return err
			}
		}
		return nil
	}))
	return versions
}

func entryOf(f memory.File) db.FileEntry {
	return db.FileEntry{ID: f.ID, Path: f.Path, Version: f.Version, Bytes: len(f.Content)}
}

func files(t *testing.T, s db.Store) {
	ctx := t.Context()
	scope := db.FileScope{Owner: alice}
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	first := newFile(alice, "/memories/a/笔记.md", "茶 🍵\n\"it's\" \\ fine\r\n\x01")
	second := newFile(alice, "/memories/A", "")
	second.Paragraphs = nil
	private := newFile(alice, second.Path, "private")
	private.AgentID = "agent"
	others := newFile(bob, second.Path, "bob's")
	putFiles(t, s, first, second, private)
	putFiles(t, s, others)
	putFiles(t, s, newFile(memory.Owner{AppID: "other", UserID: "alice"}, second.Path, "other"))

	list, err := s.ListFiles(ctx, scope)
	must(t, err)
	wantSame(t, "files", list, []db.FileEntry{entryOf(second), entryOf(first)})
	for _, want := range []memory.File{first, second, private, others} {
		got, err := s.FindFile(ctx, db.FileScope{Owner: want.Owner, AgentID: want.AgentID}, want.Path)
		must(t, err)
		wantSame(t, "file", got, want)
	}
	for _, path := range []string{"/memories/a", "/memories/a/", "/memories/a/笔记.md ", ""} {
		_, err := s.FindFile(ctx, scope, path)
		wantKind(t, err, memory.KindNotFound)
	}
	first = again(first, "changed")
	putFiles(t, s, first)
	got, err := s.FindFile(ctx, scope, first.Path)
	must(t, err)
	wantSame(t, "changed file", got, first)
	without := first
	without.Content = ""
	found, err := s.Files(ctx, alice, []string{first.ID, others.ID, memory.NewID(), "x"})
	must(t, err)
	wantSame(t, "files by id", found, []memory.File{without})

	must(t, inFiles(t, s, alice, func(ctx context.Context, tx db.UserTx) error {
		list, err := tx.ListFiles(ctx, "agent")
		must(t, err)
		wantSame(t, "the agent's files", list, []db.FileEntry{entryOf(private)})
		usage, err := tx.FileUsage(ctx)
		must(t, err)
		wantSame(t, "usage", usage, db.FileUsage{Files: 3, Bytes: 14, Paragraphs: 3})
		recorded, ok, err := tx.RecordedFile(ctx, "agent", private.Path)
		if !ok || recorded.File.Content != "private" || !memory.IsID(recorded.VersionID) {
			t.Errorf("recorded %+v, %t", recorded, ok)
		}
		return err
	}))
	try := func(f func(ctx context.Context, tx db.UserTx) error) error { return inFiles(t, s, alice, f) }
	put := func(f memory.File) error {
		return try(func(ctx context.Context, tx db.UserTx) error { return tx.PutFile(ctx, f, memory.NewID()) })
	}
	taken := newFile(alice, first.Path, "x")
	wantKind(t, put(taken), memory.KindConflict)  // the path
	wantKind(t, put(first), memory.KindConflict)  // the version
	wantKind(t, put(others), memory.KindNotFound) // another user
	stolen := again(others, "stolen")
	stolen.Owner = alice
	wantKind(t, put(stolen), memory.KindConflict) // another user's id
	long := newFile(alice, "/memories/long", strings.Repeat("x", memory.MaxFileBytes+1))
	wantKind(t, put(long), memory.KindInvalid)
	long.Content, long.Path = "x", "/memories/"+strings.Repeat("x", memory.MaxPathBytes)
	wantKind(t, put(long), memory.KindInvalid)

	for _, f := range []func(ctx context.Context, tx db.UserTx) error{
		func(ctx context.Context, tx db.UserTx) error { return tx.MoveFile(ctx, others.ID, "/memories/x") },
		func(ctx context.Context, tx db.UserTx) error { return tx.DeleteFile(ctx, others.ID) },
		func(ctx context.Context, tx db.UserTx) error { return tx.DeleteFile(ctx, memory.NewID()) },
	} {
		wantKind(t, try(f), memory.KindNotFound)
	}
	wantKind(t, try(func(ctx context.Context, tx db.UserTx) error {
		return tx.MoveFile(ctx, first.ID, second.Path)
	}), memory.KindConflict)
	must(t, try(func(ctx context.Context, tx db.UserTx) error { return tx.MoveFile(ctx, first.ID, "/memories/moved") }))
	must(t, try(func(ctx context.Context, tx db.UserTx) error { return tx.DeleteFile(ctx, second.ID) }))
	first.Path = "/memories/moved"
	list, err = s.ListFiles(ctx, scope)
	must(t, err)
	wantSame(t, "files after changes", list, []db.FileEntry{entryOf(first)})
	got, err = s.FindFile(ctx, db.FileScope{Owner: bob}, others.Path)
	must(t, err)
	wantSame(t, "bob's file", got, others)
}

// everyFile calls each method of db.Files and returns their errors.
func everyFile(ctx context.Context, s db.Store) map[string]error {
	errs := map[string]error{}
	_, errs["ListFiles"] = s.ListFiles(ctx, db.FileScope{Owner: alice})
	_, errs["FindFile"] = s.FindFile(ctx, db.FileScope{Owner: alice}, "/memories/a")
	_, errs["Files"] = s.Files(ctx, alice, []string{memory.NewID()})
	_, errs["ListFileVersions"] = s.ListFileVersions(ctx, db.FileVersionFilter{
		FileScope: db.FileScope{Owner: alice}, Path: "/memories/a", Limit: 1,
	})
	_, errs["FileVersion"] = s.FileVersion(ctx, alice, memory.NewID())
	return errs
}

// loadFiles gives an owner 20 files with 40 versions.
func loadFiles(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	var all []memory.File
	for n := range 20 {
		all = append(all, newFile(owner, fmt.Sprint("/memories/", n), "one"))
	}
	for n := range 20 {
		all = append(all, again(all[n], "two"))
	}
	putFiles(t, s, all...)
}

// exerciseFiles is Exercise for db.Files.
func exerciseFiles(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	ctx := t.Context()
	scope := db.FileScope{Owner: owner}
	list, err := s.ListFiles(ctx, scope)
	must(t, err)
	file, err := s.FindFile(ctx, scope, list[0].Path)
	must(t, err)
	_, err = s.Files(ctx, owner, []string{file.ID})
	must(t, err)
	for _, before := range []*db.Position{nil, {At: after(9), ID: memory.NewID()}} {
		found, err := s.ListFileVersions(ctx, db.FileVersionFilter{
			FileScope: scope, Path: file.Path, Before: before, Limit: 1,
		})
		must(t, err)
		_, err = s.FileVersion(ctx, owner, found[0].ID)
		must(t, err)
	}
	must(t, inFiles(t, s, owner, func(ctx context.Context, tx db.UserTx) error {
		_, err := tx.ListFiles(ctx, "")
		must(t, err)
		_, _, err = tx.RecordedFile(ctx, "", file.Path)
		must(t, err)
		_, err = tx.FileUsage(ctx)
		must(t, err)
		must(t, tx.PutFile(ctx, again(file, "three"), memory.NewID()))
		must(t, tx.PruneFileVersions(ctx, file.ID))
		_, _, err = tx.RecordedFileVersion(ctx, memory.NewID())
		must(t, err)
		must(t, tx.MoveFile(ctx, file.ID, "/memories/moved"))
		return tx.DeleteFile(ctx, file.ID)
	}))
}

// fillFiles is fill for files: it adds one file with one version and one with three.
func fillFiles(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	file := newFile(owner, "/memories/a", "one")
	changed := again(file, "two")
	putFiles(t, s, file, changed, again(changed, "three"), newFile(owner, "/memories/b", "b"))
}

// filesOf renders the files of an owner and the versions of one.
func filesOf(t *testing.T, s db.Store, owner memory.Owner) string {
	t.Helper()
	scope := db.FileScope{Owner: owner}
	list, err := s.ListFiles(t.Context(), scope)
	must(t, err)
	versions, err := s.ListFileVersions(t.Context(),
		db.FileVersionFilter{FileScope: scope, Path: "/memories/a", Limit: 10})
	must(t, err)
	return fmt.Sprint(list, versions)
}
