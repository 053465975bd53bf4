package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
	"golang.org/x/text/unicode/norm"

	"hippocampus/ingest/judge"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// nearest is the number of memories that are judged for their similarity to a draft.
const nearest = 5

// judgeable returns the memories that the judge is asked about, at most judge.MaxNear: the
// nearest of those above the floor, and those about the same thing in words. Earlier drafts of
// the same transaction are among them if they would be merged without a judge. note says why
// the judge is not asked at all.
func (s *Service) judgeable(
	draft memory.Memory, known, earlier []memory.Memory, words wordIndex,
) (near []memory.Memory, note string) {
	if draft.Type == memory.TypeMessage || draft.Type == memory.TypeSummary {
		return nil, fmt.Sprintf("the judge was not asked: it judges no %s", draft.Type)
	}
	similarity := map[string]float64{}
	floor := s.floor(draft)
	consider := func(m memory.Memory, least float64) {
		c := likeness(&m, &draft)
		if _, seen := similarity[m.ID]; !seen && c >= least && alike(m, draft) && m.Type != memory.TypeSummary {
			near, similarity[m.ID] = append(near, m), c
		}
	}
	for _, m := range known {
		if alike(m, draft) && sameWords(m.Content, draft.Content) {
			return nil, "" // they will be merged
		}
		consider(m, floor)
	}
	for _, m := range earlier {
		if alike(m, draft) && sameWords(m.Content, draft.Content) {
			return nil, ""
		}
		consider(m, s.set.MergeSimilarity)
	}
	slices.SortFunc(near, func(a, b memory.Memory) int {
		return cmp.Or(cmp.Compare(similarity[b.ID], similarity[a.ID]), cmp.Compare(a.ID, b.ID))
	})
	near = near[:min(len(near), nearest)]
	for _, m := range words.like(draft) {
		if len(near) < judge.MaxNear && alike(m, draft) && !slices.ContainsFunc(near, func(n memory.Memory) bool {
			return n.ID == m.ID
		}) {
			near = append(near, m)
		}
	}
	if len(near) == 0 {
		note = "nothing like it was known: the judge was not asked"
	}
	return near, note
}

// floor returns the cosine from which the judge is asked about a memory.
func (s *Service) floor(draft memory.Memory) float64 {
	if s.set.JudgeSimilarity >= 0 || s.Calibration == nil {
		return s.set.JudgeSimilarity
	}
	c := s.Calibration(memory.Space{Model: draft.EmbeddingModel, Dim: len(draft.Embedding)})
	if text.IsChinese(draft.Content) {
		return c.Chinese.Floor
	}
	return c.English.Floor
}

// sameWords reports whether two texts are equal except for case, width, spaces and the marks at their ends.
func sameWords(a, b string) bool { return a == b || plainWords(a) == plainWords(b) }

func plainWords(s string) string {
	s = strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(s))), " ")
	return strings.TrimRight(s, ".!?。！？ ")
}

// judge asks about one draft. On any error all are kept.
func (s *Service) judge(ctx context.Context, draft memory.Memory, near []memory.Memory) (
	judged []judgement, note string, asked bool,
) {
	verdicts, err := s.Judge.Judge(ctx, draft, near)
	if err != nil {
		return nil, s.undecided(ctx, draft, near, err), false
	}
	var kept []string
	for i, v := range verdicts {
		older := draft.CreatedAt.Before(near[i].CreatedAt)
		if v.Decision != judge.KeepBoth && older && v.Merged == "" {
			v.Decision, v.Why = judge.KeepBoth, "an earlier statement replaces no later one"
		}
		if v.Decision == judge.KeepBoth {
			kept = append(kept, fmt.Sprintf("%s (%s)", near[i].ID, cmp.Or(v.Why, "no reason given")))
			continue
		}
		j := judgement{Verdict: v, id: near[i].ID, revision: near[i].Revision, content: near[i].Content}
		if v.Merged != "" {
			by := llm.Serving(s.Embedder)
			vectors, err := by.Embed(ctx, llm.ForDocument, []string{v.Merged})
			if err != nil {
				return nil, s.undecided(ctx, draft, near, err), false
			}
			j.embedding, j.model = vectors[0], by.Model()
		}
		judged = append(judged, j)
	}
	if len(kept) == 0 {
		return judged, "", true
	}
	return judged, "judged to be another statement than " + strings.Join(kept, ", "), true
}

// undecided counts and describes a judgement that failed.
func (s *Service) undecided(ctx context.Context, draft memory.Memory, near []memory.Memory, err error) string {
	s.undecidedCount.Add(1)
	s.Log.Warn("similar memories and a new one are kept: the judge gave no verdict",
		zap.String("turn", draft.SourceTurnID), zap.Error(err))
	why := "the judge was unavailable"
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		why = "the judge did not answer in time"
	case memory.IsKind(err, memory.KindBadAnswer):
		why = "the judge's answer was refused"
	}
	return fmt.Sprintf("%s, so that it and %d memories like it are kept: %v", why, len(near), err)
}

// Undecided counts the judgements that failed.
func (s *Service) Undecided() int64 { return s.undecidedCount.Load() }

// worded returns the draft in the judge's wording, which also holds what another memory says.
func (j judgement) worded(draft memory.Memory, other time.Time) memory.Memory {
	if j.Merged != "" {
		draft.Content, draft.Lexemes = j.Merged, text.Join(text.Lexemes(j.Merged))
		draft.Embedding, draft.EmbeddingModel = j.embedding, j.model
		if draft.CreatedAt.Before(other) {
			draft.CreatedAt = other // of the later statement
		}
	}
	return draft
}
