package write

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"

	"hippocampus/ingest/judge"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// bySimilarity is the number of memories that are judged for their similarity to a draft.
const bySimilarity = 5

// judgeable returns the memories that the judge is asked about, at most judge.MaxNear: the nearest of those above the
// floor, and those about the same thing by attributes, topics and words, or all facts of a user who has few. Earlier
// drafts of the same transaction are among them if they would be merged without a judge. note says why the judge is not
// asked at all. The order is by similarity first. If the judge sees all facts, the order is the same before and after
// the floor is known.
func (w *Writer) judgeable(draft memory.Memory, near nearest, earlier []memory.Memory) (
	judgeable []memory.Memory, note string,
) {
	if draft.Type == memory.TypeMessage || draft.Type == memory.TypeSummary {
		return nil, fmt.Sprintf("the judge was not asked: it judges no %s", draft.Type)
	}
	similarity := map[string]float64{}
	consider := func(m memory.Memory, least float64) {
		c := likeness(&m, &draft)
		isNear := c >= least || near.showsAnyway(m)
		if _, seen := similarity[m.ID]; !seen && isNear && alike(&m, &draft) && m.Type != memory.TypeSummary {
			judgeable, similarity[m.ID] = append(judgeable, m), c
		}
	}
	if statesTheSame(near.known, draft) || statesTheSame(earlier, draft) {
		return nil, "" // they will be one
	}
	floor := w.floor(draft)
	for _, m := range near.known {
		consider(m, floor)
	}
	for _, m := range earlier {
		consider(m, w.set.MergeSimilarity)
	}
	slices.SortFunc(judgeable, func(a, b memory.Memory) int {
		return cmp.Or(cmp.Compare(similarity[b.ID], similarity[a.ID]), cmp.Compare(a.ID, b.ID))
	})
	judgeable = judgeable[:min(len(judgeable), bySimilarity)]
	concerning := near.words.like(draft)
	if near.few {
		concerning = slices.Concat(concerning, near.facts, near.condensed)
	}
	for _, m := range concerning {
		if len(judgeable) < judge.MaxNear && mayContradict(&m, &draft) &&
			!slices.ContainsFunc(judgeable, func(n memory.Memory) bool { return n.ID == m.ID }) {
			judgeable = append(judgeable, m)
		}
	}
	if len(judgeable) == 0 {
		note = "nothing like it was known: the judge was not asked"
	}
	return judgeable, note
}

// floor returns the cosine from which the judge is asked about a memory.
func (w *Writer) floor(draft memory.Memory) float64 {
	if w.set.JudgeSimilarity >= 0 || w.Calibration == nil {
		return w.set.JudgeSimilarity
	}
	c := w.Calibration(spaceOf(&draft))
	if text.IsChinese(draft.Content) {
		return c.Chinese.Floor
	}
	return c.English.Floor
}

// judged asks the judge about one draft. On any error all are kept.
func (w *Writer) judged(ctx context.Context, draft memory.Memory, near []memory.Memory) (
	verdicts []verdict, note string, asked bool,
) {
	zone, err := w.Zone.Of(ctx, draft.Owner)
	if err != nil {
		return nil, w.countUndecided(ctx, draft, near, err), false
	}
	answer, err := w.Judge.Judge(ctx, memory.In(zone, draft)[0], memory.In(zone, near...))
	if err != nil {
		return nil, w.countUndecided(ctx, draft, near, err), false
	}
	var kept []string
	for i, v := range answer {
		if v.Decision == judge.KeepBoth {
			kept = append(kept, fmt.Sprintf("%s (%s)", near[i].ID, cmp.Or(v.Why, "no reason given")))
			continue
		}
		decision := verdictOn(near[i], v)
		if v.Merged != "" {
			by := llm.Serving(w.Embedder)
			vectors, err := llm.EmbedDocuments(ctx, by, []string{v.Merged})
			if err != nil {
				return nil, w.countUndecided(ctx, draft, near, err), false
			}
			decision.embedding, decision.model = vectors[0], by.Model()
		}
		verdicts = append(verdicts, decision)
	}
	if len(kept) == 0 {
		return verdicts, "", true
	}
	return verdicts, "judged to be another statement than " + strings.Join(kept, ", "), true
}

// countUndecided counts and describes a judgement that failed.
func (w *Writer) countUndecided(ctx context.Context, draft memory.Memory, near []memory.Memory, err error) string {
	w.undecided.Add(1)
	w.Log.Warn("similar memories and a new one are kept: the judge gave no verdict",
		zap.String("turn", draft.SourceTurnID), zap.Error(err))
	why := "the judge was unavailable"
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		why = "the judge did not answer in time"
	case memory.IsKind(err, memory.KindBadAnswer):
		why = "the judge's answer was refused"
	}
	return fmt.Sprintf("%s, so that it and %d memories like it are kept and judged again later: %v", why, len(near), err)
}
