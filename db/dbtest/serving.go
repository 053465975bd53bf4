package dbtest

import (
	"context"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// embeddedBy returns the vector that stands for an embedding in space.
func embeddedBy(space memory.Space) []float32 {
	v := make([]float32, space.Dim)
	v[len(space.Model)%space.Dim] = 1
	return v
}

// changingModels moves memories from one embedding space to another.
func changingModels(t *testing.T, s db.Store) {
	ctx := t.Context()
	first, second := memory.Space{Model: "first", Dim: 4}, memory.Space{Model: "second one", Dim: 3}
	state, err := s.ServingState(ctx)
	must(t, err)
	wantSame(t, "before the first target", state, db.ServingState{})
	state, err = s.SetTarget(ctx, first, after(0))
	must(t, err)
	wantSame(t, "the first target", state, db.ServingState{Serving: first, Target: first, ChangedAt: after(0)})

	var list []memory.Memory
	for i := range 5 {
		m := newMemory(alice, "memory "+string(rune('a'+i)))
		m.Embedding, m.EmbeddingModel = embeddedBy(first), first.Model
		list = append(list, m)
	}
	list[4].Status = memory.Consolidated
	insert(t, s, time.Time{}, list...)
	count := func(space memory.Space) int {
		t.Helper()
		n, err := s.CountUnembedded(ctx, space)
		must(t, err)
		return n
	}
	pageOf := func(space memory.Space, after string, limit int) (ids []string) {
		t.Helper()
		found, err := s.Unembedded(ctx, space, after, limit)
		must(t, err)
		for _, m := range found {
			ids = append(ids, m.ID)
		}
		return ids
	}
	wantSame(t, "unembedded in the serving space", count(first), 0)
	wantSame(t, "unembedded in another dimension", count(memory.Space{Model: "first", Dim: 3}), 4)

	state, err = s.SetTarget(ctx, second, after(1))
	must(t, err)
	wantSame(t, "the second target", state, db.ServingState{Serving: first, Target: second, ChangedAt: after(0)})
	wantSame(t, "the first page", pageOf(second, "", 2), []string{list[0].ID, list[1].ID})
	wantSame(t, "the rest", pageOf(second, list[1].ID, 9), []string{list[2].ID, list[3].ID})

	// Of four embeddings, one has an outdated revision and one an unknown id.
	must(t, s.Reembed(ctx, second, []db.Reembedding{
		{ID: list[0].ID, Revision: 1, Embedding: embeddedBy(second)},
		{ID: list[1].ID, Revision: 7, Embedding: embeddedBy(second)},
		{ID: memory.NewID(), Revision: 1, Embedding: embeddedBy(second)},
		{ID: list[2].ID, Revision: 1, Embedding: embeddedBy(second)},
	}))
	wantSame(t, "after the first batch", pageOf(second, "", 9), []string{list[1].ID, list[3].ID})

	read := func(id string) (m memory.Memory) {
		t.Helper()
		must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
			found, err := tx.Memories(ctx, []string{id})
			if err == nil {
				m = found[0]
			}
			return err
		}))
		return m
	}
	m := read(list[0].ID)
	wantSame(t, "embedding in the serving space", m.EmbeddingIn(first), embeddedBy(first))
	wantSame(t, "embedding in the target space", m.EmbeddingIn(second), embeddedBy(second))
	wantSame(t, "embedding in an unknown space", m.EmbeddingIn(memory.Space{Model: "first", Dim: 3}), []float32(nil))
	for _, space := range []memory.Space{first, second} {
		found, err := s.Embeddings(ctx, alice, space.Model, []string{m.ID})
		must(t, err)
		wantSame(t, "embeddings by "+space.Model, found, map[string][]float32{m.ID: embeddedBy(space)})
		wantSame(t, "each embedding", embeddings(t, s, space.Model)[m.ID], embeddedBy(space))
	}
	found, err := s.Hydrate(ctx, alice, []string{m.ID, list[1].ID}, []string{m.ID})
	must(t, err)
	for _, h := range found {
		wantSame(t, "hydrated", h.EmbeddingIn(second) != nil, h.ID == m.ID)
	}

	// A new content invalidates the embedding; other changes do not.
	m.Importance, m.Revision = 0.5, 2
	worded := read(list[2].ID)
	worded.Content, worded.Revision = "another wording", 2
	update(t, s, m, worded)
	wantSame(t, "after the changes", pageOf(second, "", 9), []string{list[1].ID, list[2].ID, list[3].ID})

	// After the changeover, a push into the previous collection confirms nothing.
	tasks, err := s.ClaimDueVectors(ctx, after(100), after(200), 10)
	must(t, err)
	wantSame(t, "claimed", len(tasks), 5)
	for _, task := range tasks {
		if task.Memory.ID == m.ID {
			wantSame(t, "claimed with the embedding in the target space", task.Memory.EmbeddingIn(second), embeddedBy(second))
		}
	}
	for i := range tasks {
		tasks[i].Into = first
	}
	must(t, s.FinishVectors(ctx, tasks[:1], after(101)))
	wantKind(t, s.ChangeOver(ctx, memory.Space{Model: "third", Dim: 3}, after(2), after(3)), memory.KindConflict)
	must(t, s.ChangeOver(ctx, second, after(2), after(3)))
	wantKind(t, s.ChangeOver(ctx, second, after(2), after(3)), memory.KindConflict)
	state, err = s.ServingState(ctx)
	must(t, err)
	wantSame(t, "changed over", state, db.ServingState{
		Serving:   second,
		Target:    second,
		Previous:  first,
		CopiedAt:  after(2),
		ChangedAt: after(3),
	})
	must(t, s.FinishVectors(ctx, tasks[1:2], after(102)))
	backlog, err := s.VectorBacklog(ctx, nil)
	must(t, err)
	wantSame(t, "outstanding", backlog.Pending+backlog.Removing, 4)
	for i := range tasks {
		tasks[i].Into = second
	}
	must(t, s.FinishVectors(ctx, tasks[2:], after(103)))

	n, err := s.SettleEmbeddings(ctx, second, 10)
	must(t, err)
	wantSame(t, "settled", n, 1)
	settled := read(m.ID)
	wantSame(t, "settled model", settled.EmbeddingModel, second.Model)
	wantSame(t, "other model", settled.OtherModel, "")
	wantSame(t, "settled embedding", settled.Embedding, embeddedBy(second))
	wantSame(t, "settling keeps the revision", settled.Revision, int64(2))
	must(t, s.DropPrevious(ctx))
	state, err = s.ServingState(ctx)
	must(t, err)
	wantSame(t, "settled", state.Settled(), true)
}

// holdReembedding checks that one process at a time may re-embed.
func holdReembedding(t *testing.T, s db.Store) {
	_, err := s.SetTarget(t.Context(), memory.Space{Model: "m", Dim: 1}, after(0))
	must(t, err)
	hold := func(holder string, now, until int) bool {
		t.Helper()
		held, err := s.HoldReembedding(t.Context(), holder, after(now), after(until))
		must(t, err)
		return held
	}
	wantSame(t, "free", hold("a", 0, 10), true)
	wantSame(t, "held by another", hold("b", 9, 20), false)
	wantSame(t, "renewed", hold("a", 9, 12), true)
	wantSame(t, "expired", hold("b", 12, 20), true)
	wantSame(t, "released", hold("b", 13, 13), true)
	wantSame(t, "held after the release", hold("a", 13, 20), true)
}
