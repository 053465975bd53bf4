package write

import (
	"context"
	"slices"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/memory"
)

// Settle compares facts that are active again with the active memories, in the transaction that has stored them.
type Settle func(ctx context.Context, tx db.UserTx, changes *history.Recorder, facts []memory.Memory) error

// Restored finds out by rules what it means for the active facts of an owner that other facts become active again: a
// single attribute that was said later replaces one that was said earlier, as if the facts had been active all the
// time. Settle applies it. With judged, a judge is also asked later, by the job of JudgeAgain.
func (w *Writer) Restored(ctx context.Context, owner memory.Owner, facts []memory.Memory, judged bool) (Settle, error) {
	begun, err := w.beginReading(ctx, owner)
	if err != nil {
		return nil, err
	}
	var read []memory.Memory
	isClaim := func(m memory.Memory) bool { return w.mayReplace(m.Content) }
	if slices.ContainsFunc(facts, isClaim) {
		if read, err = w.comparedFacts(ctx, owner); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, tx db.UserTx, changes *history.Recorder, facts []memory.Memory) error {
		t := &transaction{Recorder: changes, w: w, tx: tx, begun: begun}
		if err := t.settle(ctx, facts, read); err != nil {
			return err
		}
		if judged && w.Judge != nil {
			for i := range facts {
				t.undecided = append(t.undecided, &facts[i])
			}
		}
		return t.flush(ctx)
	}, nil
}

// settle compares stored facts by rules with the active facts that were read before, and with those written since.
func (t *transaction) settle(ctx context.Context, facts, read []memory.Memory) error {
	recent, err := t.readRecent(ctx, t.begun)
	if err != nil {
		return err
	}
	isRecent := func(m memory.Memory) bool {
		return slices.ContainsFunc(recent, func(r memory.Memory) bool { return r.ID == m.ID })
	}
	known := slices.Concat(recent, slices.DeleteFunc(slices.Clone(read), isRecent))
	for i, m := range facts {
		isItself := func(k memory.Memory) bool { return k.ID == m.ID }
		others := slices.DeleteFunc(slices.Concat(known, facts[:i]), isItself)
		if _, err := t.revise(ctx, Draft{Memory: m}, finding{verdicts: t.w.single(m, others)}); err != nil {
			return err
		}
	}
	return nil
}
