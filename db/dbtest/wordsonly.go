package dbtest

import (
	"context"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// wordsOnly keeps memories without an embedding out of the vector store, until they are embedded.
func wordsOnly(t *testing.T, s db.Store) {
	ctx := t.Context()
	space := memory.Space{Model: "model", Dim: 2}
	owner := memory.Owner{AppID: "app", UserID: "bob"}
	_, err := s.SetTarget(ctx, space, after(0))
	must(t, err)
	has := func() bool {
		t.Helper()
		has, err := s.HasWordsOnly(ctx)
		must(t, err)
		return has
	}
	embedded, bare, restored := newMemory(alice, "embedded"), newMemory(alice, "bare"), newMemory(owner, "restored")
	insert(t, s, after(30), embedded)
	wantSame(t, "all are embedded", has(), false)
	bare.Embed(nil, "")
	restored.Embed(nil, "")
	insert(t, s, after(30), bare)
	must(t, s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.Restore(ctx, []memory.Memory{restored}, after(1))
	}))
	wantSame(t, "one has no embedding", has(), true)
	wantStates(t, s, map[memory.VectorState]int{memory.VectorPending: 1, memory.VectorAbsent: 2})
	_, err = s.Requeue(ctx, []string{restored.ID}, after(2))
	must(t, err)
	wantStates(t, s, map[memory.VectorState]int{memory.VectorPending: 1, memory.VectorAbsent: 1, memory.VectorRemoving: 1})
	tasks := claimDue(t, s, after(2), after(10), 10)
	must(t, s.RetryVectors(ctx, []db.VectorRetry{{ID: restored.ID, Claim: tasks[0].Claim, Due: after(3)}}))
	tasks = claimDue(t, s, after(3), after(10), 10)
	wantSame(t, "what was not pushed is removed", tasks[0].Remove, true)
	must(t, s.FinishVectors(ctx, tasks, after(4)))
	must(t, s.FinishVectors(ctx, []db.VectorTask{{Memory: embedded, Claim: 1}}, after(4)))
	wantStates(t, s, map[memory.VectorState]int{memory.VectorSynced: 1, memory.VectorAbsent: 2})

	embedded.Embed(nil, "") // its new text is refused
	embedded.Content, embedded.Revision, embedded.UpdatedAt = "longer", 2, after(5)
	update(t, s, embedded)
	tasks = claimDue(t, s, after(5), after(10), 10)
	wantSame(t, "a vector that is out of date is removed", len(tasks) == 1 && tasks[0].Remove, true)
	must(t, s.FinishVectors(ctx, tasks, after(6)))

	var later []db.Reembedding
	for _, m := range []memory.Memory{embedded, bare, restored} {
		later = append(later, db.Reembedding{ID: m.ID, Revision: m.Revision, Embedding: []float32{1, 0}})
	}
	must(t, s.Reembed(ctx, space, later))
	n, err := s.SettleEmbeddings(ctx, space, 10)
	must(t, err)
	wantSame(t, "settled", n, 3)
	wantSame(t, "all are embedded", has(), false)
	_, err = s.Requeue(ctx, []string{bare.ID}, after(7))
	must(t, err)
	tasks = claimDue(t, s, after(7), after(10), 10)
	wantSame(t, "it is pushed", len(tasks) == 1 && !tasks[0].Remove && len(tasks[0].Memory.EmbeddingIn(space)) == 2, true)
}
