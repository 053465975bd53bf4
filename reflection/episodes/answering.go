package episodes

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// What the best episode must have: the sum of how well its memories answer, and so many times that of the next episode.
const (
	leastAnswer = 0.8
	clearly     = 1.5
)

// Answering returns the episode that answers words best, if it is clearly the best; else nil. answers says of memories
// that a recall found by the words how well they answer: the relevance times the confidence. The title of an episode
// consists of words of its memories, so it adds nothing.
func (s *Service) Answering(ctx context.Context, owner memory.Owner, seenBy string, answers map[string]float64) (
	*Episode, error,
) {
	of, err := s.Records.EpisodesOf(ctx, owner, slices.Collect(maps.Keys(answers)))
	if err != nil || len(of) == 0 {
		return nil, err
	}
	ids := slices.Compact(slices.Sorted(maps.Values(of)))
	list, err := s.List(ctx, db.EpisodeFilter{Owner: owner, SeenBy: seenBy, IDs: ids, Limit: len(ids)})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	sums := map[string]float64{}
	for id, answer := range answers {
		sums[of[id]] += answer
	}
	slices.SortFunc(list, func(a, b Episode) int {
		return cmp.Or(cmp.Compare(sums[b.ID], sums[a.ID]), cmp.Compare(a.ID, b.ID))
	})
	best := sums[list[0].ID]
	if best < leastAnswer || len(list) > 1 && best < clearly*sums[list[1].ID] {
		return nil, nil
	}
	return &list[0], nil
}
