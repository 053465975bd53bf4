package recall

import (
	"cmp"
	"context"
	"slices"

	"hippocampus/internal/memory"
)

// rank reads the rows of those candidates that can be among the first, puts
// them in order and cuts. What is no longer there, active and this user's is
// dropped.
func (s *Service) rank(ctx context.Context, q Query, seen sight, found []candidate) ([]Recalled, error) {
	if seen.vector != nil && q.MinSimilarity != 0 {
		found = slices.DeleteFunc(found, func(c candidate) bool { return c.cosine < q.MinSimilarity })
	}
	hopeful := s.hopeful(q, seen, found)
	rows, err := s.rows(ctx, q, hopeful)
	if err != nil {
		return nil, err
	}
	if len(rows) < len(hopeful) && len(hopeful) < len(found) { // others move up
		if rows, err = s.rows(ctx, q, found); err != nil {
			return nil, err
		}
		hopeful = found
	}
	recalled := make([]Recalled, 0, len(hopeful))
	for _, c := range hopeful {
		m, there := rows[c.id]
		if !there {
			continue
		}
		r := Recalled{
			Memory: m, Similarity: c.cosine, Lexical: c.bm25, Neighbour: c.neighbour,
			Speaker: c.speaker, Date: c.date, When: c.when, Question: c.question, Relevance: c.relevance,
			Decay: Decay(s.set.DecayRate, m.LastAccessedAt, q.At), Importance: m.Importance, Sources: c.sources,
		}
		r.Score = Score(q.Mode, *q.Weights, r.Relevance, r.Decay, r.Importance)
		recalled = append(recalled, r)
	}
	sortByScore(recalled)
	return recalled[:min(q.Limit, len(recalled))], nil
}

// hopeful are the candidates that can be among the first, whenever they were
// last accessed: that alone is not known yet. A candidate's score lies between
// those of the two ends of decay, 0 and 1; whose upper end is below the lower
// end of as many others as are asked for has no hope.
func (s *Service) hopeful(q Query, seen sight, found []candidate) []candidate {
	if len(found) <= q.Limit {
		return found
	}
	lower := make([]float64, len(found))
	for i, c := range found {
		lower[i] = Score(q.Mode, *q.Weights, c.relevance, 0, seen.index.docs[c.doc].Importance)
	}
	slices.SortFunc(lower, func(a, b float64) int { return cmp.Compare(b, a) })
	hopeful := make([]candidate, 0, len(found))
	for _, c := range found {
		if Score(q.Mode, *q.Weights, c.relevance, 1, seen.index.docs[c.doc].Importance) >= lower[q.Limit-1] {
			hopeful = append(hopeful, c)
		}
	}
	return hopeful
}

// rows reads the candidates' memories from the database.
func (s *Service) rows(ctx context.Context, q Query, found []candidate) (map[string]memory.Memory, error) {
	if len(found) == 0 {
		return nil, nil
	}
	ids := make([]string, len(found))
	for i, c := range found {
		ids[i] = c.id
	}
	memories, err := s.records.Hydrate(ctx, q.Owner, ids, nil)
	if err != nil {
		return nil, err
	}
	rows := make(map[string]memory.Memory, len(memories))
	for _, m := range memories {
		rows[m.ID] = m
	}
	return rows, nil
}
