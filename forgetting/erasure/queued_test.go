package erasure

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/reflection"
	"hippocampus/reflection/derivation"
)

// Work that began before an erasure writes nothing after it; new requests of a client are accepted.

func TestErase_DiscardsATurnInProgress(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	for _, hook := range []*func(){&b.scored, &b.embedded} { // the worker waits for the model, or the embedder
		turn := b.turn(ada)
		*hook = func() { b.erased(ada) }
		b.process()
		if n := b.held(ada); n != 0 {
			t.Errorf("%d things are back", n)
		}
		b.must(b.ingest.RunLegacyJob(t.Context(), ingest.ProcessTurn{TurnID: turn.ID}))
	}
}

// A worker tries to write while the erasure waits for the vector store.
func TestErase_RefusesATurnInProgressByTheMark(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	turn := b.turn(ada)
	b.scored = func() {
		_, err := b.store.BeginErasure(t.Context(), ada, noon, noon, EraseUser{AppID: ada.AppID, UserID: ada.UserID})
		b.must(err)
	}
	b.process()
	if n := len(b.memories(ada)); n != 0 {
		t.Errorf("%d memories are written against the mark", n)
	}
	b.erased(ada)
	b.must(b.ingest.RunLegacyJob(t.Context(), ingest.ProcessTurn{TurnID: turn.ID}))
	if n := b.held(ada); n != 0 {
		t.Errorf("%d things are back", n)
	}
}

func TestErase_DiscardsAPromotionInProgress(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	turn := b.turn(ada)
	refused := memory.Candidate{
		ID: memory.NewID(), TurnID: turn.ID, Content: "Likes tea.", Importance: 0.5, Domain: memory.Preferences,
		Type:    memory.TypeFact,
		Verdict: memory.BelowThreshold, Reason: "too little", Scorer: "rules", CreatedAt: noon,
	}
	b.must(b.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddCandidates(ctx, []memory.Candidate{refused})
	}))
	b.embedded = func() { b.erased(ada) }
	results, _, err := b.ingest.Promote(t.Context(), ingest.Promotion{AppID: ada.AppID, IDs: []string{refused.ID}})
	b.must(err)
	if len(results) != 1 || !memory.IsKind(results[0].Err, memory.KindNotFound) {
		t.Errorf("the promotion of a candidate that was erased: %+v", results)
	}
	if n := b.held(ada); n != 0 {
		t.Errorf("%d things are back", n)
	}
}

func TestErase_DiscardsAnEditInProgress(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.write(ada, "Likes tea.")
	content := "Likes coffee."
	b.embedded = func() { b.erased(ada) }
	_, err := b.ingest.Change(t.Context(), ada.AppID, b.memories(ada)[0].ID, ingest.Change{Content: &content})
	if !memory.IsKind(err, memory.KindNotFound) {
		t.Errorf("an edit of a memory that was erased: %v", err)
	}
	if n := b.held(ada); n != 0 {
		t.Errorf("%d things are back", n)
	}
}

// A write whose transaction begins after the end counts as new.
func TestErase_DiscardsAWriteThatBeganBefore(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.write(ada, "Likes tea.")
	b.embedded = func() { b.erased(ada) }
	b.write(ada, "Likes coffee.")
	if list := b.memories(ada); len(list) != 1 || list[0].Content != "Likes coffee." {
		t.Errorf("%+v", list)
	}
}

// model answers with no insights, after it has called f.
type model struct{ f func() }

func (m model) Model() string { return "model" }

func (m model) Answer(context.Context, llm.Prompt) (string, error) {
	m.f()
	return `{"insights":[]}`, nil
}

// The time of the reflection is not stored either.
func TestErase_DiscardsAReflectionInProgress(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.write(ada, "Likes tea.", "Likes jazz.")
	embedder := llm.Hashed(64)
	reflect := reflection.New(reflection.Parts{
		Records: b.store, Derive: derivation.New(b.store, b.push, embedder, b.clock.Now), Chat: model{func() {
			b.erased(ada)
		}},
		Now: b.clock.Now, Log: zap.NewNop(),
	}, reflection.Settings{Rule: reflection.Rule{Importance: 1, Cooldown: time.Hour, MinFacts: 2}, MaxFacts: 10})
	if _, err := reflect.Reflect(t.Context(), ada, reflection.Always); !memory.IsKind(err, memory.KindConflict) {
		t.Errorf("a reflection on what was erased: %v", err)
	}
	if n := b.held(ada); n != 0 {
		t.Errorf("%d things are back", n)
	}
}
