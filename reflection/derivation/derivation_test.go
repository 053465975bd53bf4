package derivation

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/db/sqlite"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
)

var (
	ada   = memory.Owner{AppID: "app", UserID: "ada"}
	begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// fixture is a service on a real SQLite database and a clock that the test moves.
type fixture struct {
	*Service
	t      *testing.T
	store  *sqlite.Store
	clock  *apptest.Clock
	pusher *apptest.Pusher
	model  string
}

// The embedder says in each vector which model made it.
func (b *fixture) Model() string { return b.model }
func (b *fixture) Dim() int      { return 1 }
func (b *fixture) Embed(_ context.Context, _ llm.Use, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i := range vectors {
		vectors[i] = []float32{float32(len(b.model))}
	}
	return vectors, nil
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	clock := apptest.NewClock(begin)
	b := &fixture{t: t, store: apptest.SQLite(t), clock: clock, pusher: apptest.NewPusher(clock), model: "m"}
	b.Service = New(b.store, b.pusher, b, b.clock.Now)
	return b
}

func (b *fixture) tx(f func(ctx context.Context, tx db.UserTx) error) {
	b.t.Helper()
	if err := b.store.InUser(b.t.Context(), ada, f); err != nil {
		b.t.Fatal(err)
	}
}

// add writes facts.
func (b *fixture) add(contents ...string) []memory.Memory {
	b.t.Helper()
	list := make([]memory.Memory, len(contents))
	for i, content := range contents {
		list[i] = b.Draft(ada, content, memory.TypeFact, memory.Lifestyle, 0.8, []float32{1})
	}
	b.tx(func(ctx context.Context, tx db.UserTx) error { return tx.Insert(ctx, list, b.clock.Now()) })
	return list
}

// change edits a memory without the service.
func (b *fixture) change(id string, f func(*memory.Memory)) {
	b.t.Helper()
	b.tx(func(ctx context.Context, tx db.UserTx) error {
		rows, err := tx.Memories(ctx, []string{id})
		if err != nil {
			return err
		}
		f(&rows[0])
		rows[0].Revision++
		return tx.Update(ctx, rows[0])
	})
}

func (b *fixture) memory(id string) memory.Memory {
	b.t.Helper()
	m, err := b.store.Memory(b.t.Context(), ada.AppID, id)
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

func (b *fixture) state() db.UserState {
	b.t.Helper()
	s, err := b.store.State(b.t.Context(), ada)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

func (b *fixture) kinds(id string) (kinds []memory.EventKind) {
	b.t.Helper()
	events, err := b.store.History(b.t.Context(), ada.AppID, id)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// of makes a derivation of all the sources.
func (b *fixture) of(sources []memory.Memory, t memory.Type) Derivation {
	d := Derivation{Owner: ada, Cause: "test", Sources: sources}
	for _, m := range sources {
		d.Retire = append(d.Retire, m.ID)
	}
	d.Derived = []Derived{{
		Memory: b.Draft(ada, "Ada swims daily.", t, memory.Lifestyle, 0.9, []float32{1}), Sources: d.Retire,
	}}
	return d
}

func (b *fixture) commit(d Derivation) memory.Memory {
	b.t.Helper()
	if err := b.Commit(b.t.Context(), d); err != nil {
		b.t.Fatal(err)
	}
	return d.Derived[0].Memory
}

func TestUndo_RestoresSources(t *testing.T) {
	t.Parallel()
	for _, kind := range []memory.Type{memory.TypeReflection, memory.TypeSummary} {
		b := newFixture(t)
		facts := b.add("Ada swam on Monday.", "Ada swam on Tuesday.", "Ada swam on Friday.")
		derived := b.commit(b.of(facts, kind))
		if !slices.Equal(b.kinds(derived.ID), []memory.EventKind{memory.EventCreated}) ||
			b.memory(facts[0].ID).Status != memory.Consolidated {
			t.Fatal("nothing was derived")
		}
		// One source was forgotten in the meantime and stays so; the embedding model has changed.
		b.change(facts[2].ID, func(m *memory.Memory) { m.Status = memory.Forgotten })
		b.clock.Set(begin.AddDate(0, 0, 1))
		b.pusher.Reset()
		b.model = "newer"
		undone, restored, err := b.Undo(t.Context(), ada.AppID, derived.ID)
		if err != nil || undone.Status != memory.Forgotten || len(restored) != 2 {
			t.Fatalf("%+v, %+v, %v", undone, restored, err)
		}
		for _, m := range facts[:2] {
			now := b.memory(m.ID)
			if now.Status != memory.Active || now.EmbeddingModel != "newer" || !now.LastAccessedAt.Equal(b.clock.Now()) {
				t.Errorf("restored %+v", now)
			}
			if got := b.kinds(m.ID); !slices.Equal(got, []memory.EventKind{memory.EventConsolidated, memory.EventRestored}) {
				t.Errorf("events %v", got)
			}
		}
		found, err := b.store.Embeddings(t.Context(), ada, "newer", []string{facts[0].ID})
		if err != nil || len(found[facts[0].ID]) != 1 || found[facts[0].ID][0] != 5 {
			t.Errorf("embeddings %v, %v", found, err)
		}
		want := slices.Sorted(slices.Values([]string{derived.ID, facts[0].ID, facts[1].ID}))
		if got := slices.Sorted(slices.Values(b.pusher.Pushed())); !slices.Equal(got, want) {
			t.Errorf("pushed %v, want %v", got, want)
		}
		if s := b.state(); s.ReflectedAt.Equal(b.clock.Now()) != (kind == memory.TypeReflection) ||
			s.CompressedAt.Equal(b.clock.Now()) != (kind == memory.TypeSummary) {
			t.Errorf("state %+v", s)
		}

		b.pusher.Reset()
		undone, restored, err = b.Undo(t.Context(), ada.AppID, derived.ID)
		if err != nil || undone.Status != memory.Forgotten || len(restored) != 0 || len(b.pusher.Pushed()) != 0 {
			t.Errorf("again: %+v, %+v, %v", undone, restored, err)
		}
		if got := b.kinds(derived.ID); !slices.Equal(got, []memory.EventKind{memory.EventCreated, memory.EventForgotten}) {
			t.Errorf("events %v", got)
		}
	}
}

func TestUndo_RefusesMemoriesThatWereNotDerived(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	fact := b.add("Ada swims.")[0]
	loose := b.Draft(ada, "Ada is a swimmer.", memory.TypeReflection, memory.Lifestyle, 0.9, []float32{1})
	b.tx(func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, []memory.Memory{loose}, b.clock.Now())
	})
	for _, test := range []struct {
		app, id string
		kind    memory.Kind
		says    string
	}{
		{"app", fact.ID, memory.KindConflict, "only a reflection or a summary"},
		{"app", loose.ID, memory.KindConflict, "delete it instead"},
		{"app", memory.NewID(), memory.KindNotFound, ""},
		{"other", loose.ID, memory.KindNotFound, ""},
	} {
		if _, _, err := b.Undo(t.Context(), test.app, test.id); !memory.IsKind(err, test.kind) ||
			!strings.Contains(err.Error(), test.says) {
			t.Errorf("%s of %s: %v", test.id, test.app, err)
		}
	}
}

func TestCommit_ChangesNothingIfRefused(t *testing.T) {
	t.Parallel()
	no := errors.New("not at this hour")
	for name, test := range map[string]struct {
		spoil func(b *fixture, d *Derivation)
		want  func(error) bool
	}{
		"changed source": {func(b *fixture, d *Derivation) {
			b.change(d.Sources[1].ID, func(m *memory.Memory) { m.Content = "Ada swam on Sunday." })
		}, func(err error) bool { return memory.IsKind(err, memory.KindConflict) }},
		"forgotten source": {func(b *fixture, d *Derivation) {
			b.change(d.Sources[1].ID, func(m *memory.Memory) { m.Status = memory.Forgotten })
		}, func(err error) bool { return memory.IsKind(err, memory.KindConflict) }},
		"unknown source": {func(_ *fixture, d *Derivation) { d.Sources[0].ID = memory.NewID() },
			func(err error) bool { return memory.IsKind(err, memory.KindConflict) }},
		"another user's": {func(_ *fixture, d *Derivation) { d.Owner.UserID = "bob"; d.Derived[0].Memory.UserID = "bob" },
			func(err error) bool { return memory.IsKind(err, memory.KindConflict) }},
		"state": {func(_ *fixture, d *Derivation) {
			d.State = func(s db.UserState) (db.UserState, error) { s.ReflectedAt = begin; return s, no }
		}, func(err error) bool { return errors.Is(err, no) }},
		"a source that nothing stands for": {func(_ *fixture, d *Derivation) { d.Derived[0].Sources = d.Retire[:1] },
			func(err error) bool { return memory.IsKind(err, memory.KindInternal) }},
		"a relation to nothing": {func(_ *fixture, d *Derivation) {
			d.Derived[0].Sources = append(d.Derived[0].Sources[:2:2], memory.NewID())
		},
			func(err error) bool { return memory.IsKind(err, memory.KindNotFound) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t)
			facts := b.add("Ada swam on Monday.", "Ada swam on Tuesday.")
			d := b.of(slices.Clone(facts), memory.TypeReflection)
			test.spoil(b, &d)
			if err := b.Commit(t.Context(), d); !test.want(err) {
				t.Errorf("%v", err)
			}
			if _, err := b.store.Memory(t.Context(), ada.AppID, d.Derived[0].Memory.ID); !memory.IsKind(err,
				memory.KindNotFound) {
				t.Errorf("it was derived: %v", err)
			}
			if m := b.memory(facts[0].ID); m.Status != memory.Active || m.Revision != 1 || len(b.pusher.Pushed()) != 0 ||
				!b.state().ReflectedAt.IsZero() {
				t.Errorf("changed: %+v, %+v", m, b.state())
			}
		})
	}
}

func TestCommit_UpdatesStateWithoutDerivedMemories(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	if err := b.Commit(t.Context(), Derivation{Owner: ada, Cause: "test",
		State: func(s db.UserState) (db.UserState, error) {
			s.CompressedAt = begin
			return s, nil
		}}); err != nil || !b.state().CompressedAt.Equal(begin) {
		t.Errorf("%+v, %v", b.state(), err)
	}
}
