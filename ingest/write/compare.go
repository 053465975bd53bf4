package write

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"hippocampus/ingest/judge"
	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
)

// finding is what was found out about a draft before the user's lock was taken.
type finding struct {
	near     []string  // ids of memories that it may be one with
	verdicts []verdict // without KeepBoth
	note     string    // what the judge answered, or why it was not asked; empty if there is no judge
	asked    bool      // the judge has answered
}

// verdict is what a draft means for one memory, which is as it was when they were compared.
type verdict struct {
	judge.Verdict
	id        string
	revision  int64
	content   string
	embedding []float32 // of Merged; nil if it is empty
	model     string    // of embedding
}

func verdictOn(m memory.Memory, v judge.Verdict) verdict {
	return verdict{Verdict: v, id: m.ID, revision: m.Revision, content: m.Content}
}

// judging bounds the concurrent calls of the judge for one batch.
const judging = 4

// compare finds what each draft may concern, and what it means for that: the judge decides, or without one the rules
// of single attributes. It runs before the user's lock is taken, since it waits for a model.
func (w *Writer) compare(ctx context.Context, owner memory.Owner, drafts []Draft, except []string) (
	found []finding, err error,
) {
	found = make([]finding, len(drafts))
	if !slices.ContainsFunc(drafts, func(d Draft) bool { return d.Compare != Alone }) {
		return found, nil
	}
	ctx, comparing := tracing.Start(ctx, "ingest.compare")
	defer func() { tracing.End(comparing, err) }()
	near, err := w.nearest(ctx, owner, drafts, except)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, w.set.JudgeTimeout)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(judging)
	var earlier []memory.Memory
	for i, d := range drafts {
		found[i].near = near.ids[i]
		switch {
		case d.Compare == Alone:
			continue
		case w.Judge == nil || d.Compare == WithoutModel:
			found[i].verdicts = w.single(d.Memory, slices.Concat(near.facts, earlier))
		default:
			judgeable, note := w.judgeable(d.Memory, near, earlier)
			found[i].note = note
			if len(judgeable) == 0 {
				break
			}
			group.Go(func() error {
				found[i].verdicts, found[i].note, found[i].asked = w.judged(ctx, d.Memory, judgeable)
				return nil
			})
		}
		earlier = append(earlier, d.Memory)
	}
	return found, group.Wait()
}
