package write

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/ingest/judge"
	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
)

// finding is the result of comparing a draft before the user's lock was taken.
type finding struct {
	near     []string  // ids of memories that may say the same as the draft
	verdicts []verdict // without KeepBoth
	note     string    // what the judge answered, or why it was not asked; empty if there is no judge
	asked    bool      // the judge has answered
	failed   bool      // the judge gave no verdict on some of the memories near the draft
}

// comparison is the result of comparing the drafts of a batch.
type comparison struct {
	findings []finding        // one for each draft
	seen     map[string]int64 // revisions of the facts that were there to be compared, by id
	begun    reading          // when they were read
	isLast   bool             // the drafts are written even if other facts were written since
}

// reading is when facts began to be read.
type reading struct {
	at       time.Time
	revision int64 // of the owner's memories
}

func (w *Writer) beginReading(ctx context.Context, owner memory.Owner) (reading, error) {
	revision, err := w.Records.Revision(ctx, owner)
	return reading{at: w.Now(), revision: revision}, err
}

// readRecent reads what searches since a reading may not have found, and what was written after it.
func (t *transaction) readRecent(ctx context.Context, since reading) ([]memory.Memory, error) {
	return t.tx.Recent(ctx, since.at.Add(-t.w.set.OwnWindow), since.revision, t.w.set.OwnLimit)
}

// verdict is what a draft means for one memory. id, revision and content are those of the memory that was compared.
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

// compare finds the memories that each draft may concern, and what the draft means for them: the judge decides, or
// without a judge the rules of single attributes. It runs before the user's lock is taken, since it waits for a model.
func (w *Writer) compare(ctx context.Context, owner memory.Owner, drafts []Draft, except []string) (
	compared comparison, err error,
) {
	found := make([]finding, len(drafts))
	compared = comparison{findings: found, seen: map[string]int64{}}
	if !slices.ContainsFunc(drafts, Draft.isCompared) {
		return compared, nil
	}
	ctx, comparing := tracing.Start(ctx, "ingest.compare")
	defer func() { tracing.End(comparing, err) }()
	if compared.begun, err = w.beginReading(ctx, owner); err != nil {
		return compared, err
	}
	near, err := w.nearest(ctx, owner, drafts, except)
	if err != nil {
		return compared, err
	}
	for _, m := range slices.Concat(near.facts, near.condensed, near.known) {
		compared.seen[m.ID] = m.Revision
	}
	ctx, cancel := context.WithTimeout(ctx, w.set.JudgeTimeout)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(judging)
	var earlier []memory.Memory
	for i, d := range drafts {
		found[i].near = near.ids[i]
		switch {
		case !d.isCompared():
			continue
		case w.Judge == nil || d.Compare != Judged:
			found[i].verdicts = w.single(d.Memory, slices.Concat(near.facts, near.condensed, earlier))
		default:
			judgeable, note := w.judgeable(d.Memory, near, earlier)
			found[i].note = note
			if len(judgeable) == 0 {
				group.Go(func() (err error) {
					found[i].verdicts, err = w.undoneBy(ctx, d.Memory, near)
					return err
				})
				break
			}
			group.Go(func() error {
				found[i].verdicts, found[i].note, found[i].asked = w.judged(ctx, d.Memory, judgeable)
				found[i].failed = !found[i].asked
				return nil
			})
		}
		earlier = append(earlier, d.Memory)
	}
	return compared, group.Wait()
}

// outdated returns the user's recent facts that a comparison has not seen.
func (c comparison) outdated(recent []memory.Memory) (unseen []memory.Memory) {
	for _, m := range recent {
		if revision, seen := c.seen[m.ID]; m.Type != memory.TypeMessage && (!seen || revision != m.Revision) {
			unseen = append(unseen, m)
		}
	}
	return unseen
}

// settle completes the finding about a draft with facts that were written since. errOutdated: the judge is to be asked
// about them.
func (c comparison) settle(w *Writer, d Draft, f finding, unseen []memory.Memory) (finding, error) {
	if len(unseen) == 0 {
		return f, nil
	}
	if w.Judge == nil || d.Compare != Judged {
		f.verdicts = append(slices.Clone(f.verdicts), w.single(d.Memory, unseen)...)
		return f, nil
	}
	concerning, _ := w.judgeable(d.Memory, nearest{known: unseen, words: w.indexWords(unseen)}, nil)
	switch {
	case len(concerning) == 0:
		return f, nil
	case !c.isLast:
		return f, errOutdated
	}
	w.undecided.Add(1)
	note := fmt.Sprintf(
		"it is kept in addition to %d memories that were written while it was judged, and judged again later",
		len(concerning))
	if f.note != "" {
		note = f.note + "; " + note
	}
	f.note, f.failed = note, true
	return f, nil
}
