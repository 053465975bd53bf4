package memorytool

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/ingest/write"
	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
)

var (
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ada  = db.FileScope{Owner: memory.Owner{AppID: "app", UserID: "ada"}}
)

// fixture is a service on a real database.
type fixture struct {
	*Service
	t        *testing.T
	store    db.Store
	embedder *apptest.Embedder
	clock    *apptest.Clock
	writer   *ingest.Service
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		t: t, store: apptest.SQLite(t), embedder: apptest.HashedEmbedder(16), clock: apptest.NewClock(noon),
	}
	pusher := apptest.NewPusher(f.clock)
	f.writer = ingest.New(ingest.Parts{
		Records: f.store, Embedder: f.embedder, Pusher: pusher, Now: f.clock.Now, Log: zap.NewNop(),
		Writer: write.New(write.Parts{Records: f.store, Pusher: pusher, Now: f.clock.Now}, write.Settings{}),
		Guess:  func(string) memory.Domain { return memory.Lifestyle },
	}, ingest.Settings{MinImportance: 0.9})
	f.Service = New(f.store, f.writer, f.clock.Now)
	return f
}

// run runs a command that must have a result.
func (f *fixture) run(scope db.FileScope, c Command) Result {
	f.t.Helper()
	result, err := f.Run(f.t.Context(), scope, c)
	if err != nil {
		f.t.Fatalf("%+v: %v", c, err)
	}
	return result
}

// do runs commands of ada that must succeed.
func (f *fixture) do(commands ...Command) {
	f.t.Helper()
	for _, c := range commands {
		if result := f.run(ada, c); result.IsError {
			f.t.Fatalf("%+v: %s", c, result.Content)
		}
	}
}

// content returns the content of a file of ada.
func (f *fixture) content(path string) string {
	f.t.Helper()
	file, err := f.store.FindFile(f.t.Context(), ada, path)
	if err != nil {
		f.t.Fatal(err)
	}
	return file.Content
}

// memories returns ada's memories of a status by their contents.
func (f *fixture) memories(status memory.Status) map[string]memory.Memory {
	f.t.Helper()
	list, err := f.store.ListMemories(f.t.Context(), db.MemoryFilter{
		Owner: ada.Owner, Statuses: []memory.Status{status}, Limit: memory.MaxPage,
	})
	if err != nil {
		f.t.Fatal(err)
	}
	found := map[string]memory.Memory{}
	for _, m := range list {
		found[m.Content] = m
	}
	return found
}

// wantMemories compares the contents of ada's active memories.
func (f *fixture) wantMemories(want ...string) {
	f.t.Helper()
	var got []string
	for content := range f.memories(memory.Active) {
		got = append(got, content)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		f.t.Errorf("active memories %q, want %q", got, want)
	}
}

func create(path, text string) Command { return Command{Name: Create, Path: path, FileText: text} }

func replace(path, old, text string) Command {
	return Command{Name: StrReplace, Path: path, OldStr: old, NewStr: text}
}

func insert(path string, line int, text string) Command {
	return Command{Name: Insert, Path: path, InsertLine: line, InsertText: text}
}

func view(path string, bounds ...int) Command {
	return Command{Name: View, Path: path, ViewRange: bounds}
}

func remove(path string) Command { return Command{Name: Delete, Path: path} }

func rename(from, to string) Command { return Command{Name: Rename, OldPath: from, NewPath: to} }

// failingWriter runs a function within the transaction of each change, before its end.
type failingWriter struct {
	Rewriter
	before func(ctx context.Context, tx db.UserTx) error
}

func (w failingWriter) Rewrite(ctx context.Context, r ingest.Rewrite) error {
	last := r.Last
	r.Last = func(ctx context.Context, tx db.UserTx, added []memory.Memory) error {
		if err := last(ctx, tx, added); err != nil {
			return err
		}
		return w.before(ctx, tx)
	}
	return w.Rewriter.Rewrite(ctx, r)
}

var errCrash = errors.New("crash")
