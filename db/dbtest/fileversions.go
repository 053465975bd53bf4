package dbtest

import (
	"context"
	"fmt"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// versionOf is the version that PutFile stores with a file.
func versionOf(f memory.File, id string) memory.FileVersion {
	return memory.FileVersion{
		ID: id, Owner: f.Owner, AgentID: f.AgentID, FileID: f.ID, Path: f.Path, Number: f.Version,
		Bytes: len(f.Content), Content: f.Content, WrittenAt: f.ChangedAt,
	}
}

// versionsAt reads all pages of the versions at a path, two at a time.
func versionsAt(t *testing.T, s db.Store, scope db.FileScope, path string) (all []memory.FileVersion) {
	t.Helper()
	f := db.FileVersionFilter{FileScope: scope, Path: path, Limit: 2}
	for {
		page, err := s.ListFileVersions(t.Context(), f)
		must(t, err)
		all = append(all, page...)
		if len(page) < f.Limit {
			return all
		}
		last := page[len(page)-1]
		f.Before = &db.Position{At: last.WrittenAt, ID: last.ID}
	}
}

func fileVersions(t *testing.T, s db.Store) {
	scope := db.FileScope{Owner: alice}
	one := newFile(alice, "/memories/a", "one")
	two := again(one, "two")
	three := again(two, "three")
	ids := putFiles(t, s, one, two, three)
	private := newFile(alice, one.Path, "private")
	private.AgentID = "agent"
	putFiles(t, s, private)

	var want []memory.FileVersion
	for n, f := range []memory.File{three, two, one} {
		v := versionOf(f, ids[2-n])
		v.Content = ""
		want = append(want, v)
	}
	wantSame(t, "versions", versionsAt(t, s, scope, one.Path), want)
	read := func(id string, f memory.File) {
		t.Helper()
		got, err := s.FileVersion(t.Context(), alice, id)
		must(t, err)
		wantSame(t, "version", got, versionOf(f, id))
	}
	read(ids[0], one)
	for _, unknown := range []string{memory.NewID(), "x", ""} {
		_, err := s.FileVersion(t.Context(), alice, unknown)
		wantKind(t, err, memory.KindNotFound)
	}
	for _, other := range []memory.Owner{{AppID: "other", UserID: "alice"}, {AppID: "app", UserID: "bob"}} {
		_, err := s.FileVersion(t.Context(), other, ids[0])
		wantKind(t, err, memory.KindNotFound)
	}

	must(t, inFiles(t, s, alice, func(ctx context.Context, tx db.UserTx) error {
		must(t, tx.MoveFile(ctx, one.ID, "/memories/b"))
		return tx.DeleteFile(ctx, one.ID)
	}))
	one.Path = "/memories/b"
	wantSame(t, "versions at the former path", len(versionsAt(t, s, scope, "/memories/a")), 0)
	wantSame(t, "versions of the deleted file", len(versionsAt(t, s, scope, "/memories/b")), 3)
	read(ids[0], one)

	add := func(owner memory.Owner, v memory.FileVersion) error {
		return inFiles(t, s, owner, func(ctx context.Context, tx db.UserTx) error { return tx.AddFileVersion(ctx, v) })
	}
	fourth := versionOf(again(three, "four"), memory.NewID())
	must(t, add(alice, fourth))
	repeated, taken := fourth, fourth
	repeated.ID = memory.NewID()
	wantKind(t, add(alice, repeated), memory.KindConflict) // the number
	taken.Number = 9
	wantKind(t, add(alice, taken), memory.KindConflict) // the id
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	wantKind(t, add(bob, fourth), memory.KindNotFound)
	for owner, want := range map[memory.Owner]bool{alice: true, bob: false} {
		must(t, inFiles(t, s, owner, func(ctx context.Context, tx db.UserTx) error {
			v, ok, err := tx.RecordedFileVersion(ctx, fourth.ID)
			if ok != want {
				t.Errorf("%v finds the version: %t", owner, ok)
			}
			if ok {
				wantSame(t, "recorded version", v, fourth)
			}
			return err
		}))
	}
}

// pruneFileVersions checks both limits; the contents that files have stay.
func pruneFileVersions(t *testing.T, s db.Store) {
	scope := db.FileScope{Owner: alice}
	busy := newFile(alice, "/memories/busy", "x")
	old := newFile(alice, "/memories/old", "x")
	putFiles(t, s, old)
	all := []memory.File{busy}
	for len(all) < memory.MaxFileVersions+3 {
		all = append(all, again(all[len(all)-1], "x"))
	}
	putFiles(t, s, all...)
	prune := func(id string) {
		t.Helper()
		must(t, inFiles(t, s, alice, func(ctx context.Context, tx db.UserTx) error { return tx.PruneFileVersions(ctx, id) }))
	}
	prune(busy.ID)
	kept := versionsAt(t, s, scope, busy.Path)
	if len(kept) != memory.MaxFileVersions || kept[0].Number != len(all) {
		t.Errorf("%d versions, the newest is %d", len(kept), kept[0].Number)
	}

	must(t, inFiles(t, s, alice, func(ctx context.Context, tx db.UserTx) error {
		for n := range memory.MaxPastContents {
			f := newFile(alice, fmt.Sprint("/memories/deleted/", n), "x")
			f.ChangedAt = after(100 + n)
			must(t, tx.AddFileVersion(ctx, versionOf(f, memory.NewID())))
		}
		return nil
	}))
	prune(busy.ID)
	wantSame(t, "versions of the busy file", len(versionsAt(t, s, scope, busy.Path)), 1)
	wantSame(t, "versions of the old file", len(versionsAt(t, s, scope, old.Path)), 1)
	wantSame(t, "versions of the first deleted file", len(versionsAt(t, s, scope, "/memories/deleted/0")), 1)
	for _, f := range []memory.File{all[len(all)-1], old} {
		_, err := s.FindFile(t.Context(), scope, f.Path)
		must(t, err)
	}
}

func exportFiles(t *testing.T, s db.Store) {
	var want []db.ExportedFile
	var former []memory.FileVersion
	for _, user := range exportedUsers {
		owner := memory.Owner{AppID: "app", UserID: user}
		for _, agent := range []string{"", "agent"} {
			for _, path := range []string{"/memories/A", "/memories/a", "/memories/笔记"} {
				one := newFile(owner, path, "one")
				one.AgentID = agent
				two := again(one, "two")
				ids := putFiles(t, s, one, two)
				want = append(want, db.ExportedFile{File: two, VersionID: ids[1]})
				former = append(former, versionOf(one, ids[0]))
			}
		}
	}
	putFiles(t, s, newFile(memory.Owner{AppID: "other", UserID: "alice"}, "/memories/a", "x"))
	wantPaged(t, s.ExportFiles, want, func(f db.ExportedFile) string { return f.File.UserID })
	wantPaged(t, s.ExportFileVersions, former, func(v memory.FileVersion) string { return v.UserID })
}
