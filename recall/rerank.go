package recall

import (
	"cmp"
	"context"
	"slices"
	"time"

	"go.uber.org/zap"

	"hippocampus/internal/llm"
	"hippocampus/internal/tracing"
)

// Rerank sets how a reranking model takes part in the relevance. Without a model it does not.
type Rerank struct {
	Model      llm.Reranker // nil: no model
	Candidates int          // the most relevant ones that the model scores
	Share      float64      // of the model in relevance, 0..1; the rest is fused
	Timeout    time.Duration
}

// rerank asks the model for the scores of the most relevant candidates and mixes them into the
// relevance:
//
//	relevance = (1 - share)*fused + share*minmax(score)    minmax over the scored candidates
//
// A candidate that is not scored has a minmax of 0. late is true if the model failed or was
// late; the relevance is then unchanged. The text of a candidate is the one that is embedded.
func (s *Service) rerank(ctx context.Context, queries []subquery, x *index, list []relevant) (late bool, err error) {
	set := &s.set.Rerank
	if set.Model == nil || set.Share == 0 || len(list) < 2 {
		return false, nil
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(list[b].relevance, list[a].relevance), cmp.Compare(list[a].id, list[b].id))
	})
	order = order[:min(set.Candidates, len(order))]
	places, texts, err := s.textsOf(ctx, queries[0].Query, x, list, order)
	if err != nil || len(texts) < 2 {
		return false, err
	}
	bounded, done := waitFor(ctx, partReranker, set.Timeout)
	defer done()
	scores, err := set.Model.Rerank(bounded, joined(queries), texts)
	if err != nil {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		s.log.Warn("recall without reranking", zap.String("model", set.Model.Model()), tracing.Log(ctx), zap.Error(err))
		return true, nil
	}
	low, high := slices.Min(scores), slices.Max(scores)
	if low == high {
		return false, nil // the model prefers no candidate
	}
	for i := range list {
		r := &list[i]
		r.relevance *= 1 - set.Share
		r.fused *= 1 - set.Share
		r.message *= 1 - set.Share
		r.skill *= 1 - set.Share
	}
	for i, place := range places {
		list[place].rerank = set.Share * (scores[i] - low) / (high - low)
		list[place].relevance += list[place].rerank
	}
	equalizeSkills(list, x)
	raiseSuccessors(list)
	return false, nil
}

// textsOf reads the texts of candidates, given by their places in list. Those that the database does
// not have are left out.
func (s *Service) textsOf(ctx context.Context, q Query, x *index, list []relevant, order []int) (
	places []int, texts []string, err error) {
	ids := make([]string, len(order))
	for i, place := range order {
		ids[i] = list[place].id
	}
	read, err := s.records.Recalled(ctx, q.Owner, ids, nil)
	if err != nil {
		return nil, nil, err
	}
	textOf := make(map[string]string, len(read.Whole))
	for i := range read.Whole {
		textOf[read.Whole[i].ID] = read.Whole[i].IndexedTextIn(q.Zone)
	}
	for _, m := range x.superseded {
		textOf[m.ID] = m.IndexedTextIn(q.Zone)
	}
	for i, place := range order {
		if text, found := textOf[ids[i]]; found {
			places = append(places, place)
			texts = append(texts, text)
		}
	}
	return places, texts, nil
}
