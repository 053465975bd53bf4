package recall

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hippocampus/internal/memory"
)

// row is what was read of a memory.
type row struct {
	accessed time.Time
	whole    *memory.Memory // nil: only the last access was read
}

// standing is a candidate with its score.
type standing struct {
	*candidate
	decay, score float64
}

// rank puts those candidates in order that can be among the first, and cuts.
// Those that will probably be first are read as a whole at once, of the others
// only the last access, which the order depends on. What is no longer there,
// active and this user's is dropped, and the next best moves up.
func (s *Service) rank(ctx context.Context, q Query, seen sight, found []candidate) ([]Recalled, error) {
	if seen.vector != nil && q.MinSimilarity != 0 {
		found = slices.DeleteFunc(found, func(c candidate) bool { return c.cosine < q.MinSimilarity })
	}
	rows := make(map[string]row, len(found))
	hopeful := s.hopeful(q, seen, found)
	likely := s.guess(q, seen.index, hopeful)
	whole, rest := likely[:min(q.Limit, len(likely))], likely[min(q.Limit, len(likely)):]
	for {
		if err := s.read(ctx, q, seen, rows, whole, rest); err != nil {
			return nil, err
		}
		seen.presumed = false // it holds

		if len(rows) < len(hopeful) && len(hopeful) < len(found) { // without those who are gone others have hope
			hopeful = found
			whole, rest = nil, without(s.guess(q, seen.index, found), func(c standing) bool { _, read := rows[c.id]; return read })
			continue
		}
		list := s.stand(q, seen.index, rows, hopeful)
		list = list[:min(q.Limit, len(list))]
		whole, rest = without(list, func(c standing) bool { return rows[c.id].whole != nil }), nil
		if len(whole) == 0 {
			return s.recalled(q, seen.index, rows, list), nil
		}
		for _, c := range whole { // it is read again, and may have gone
			delete(rows, c.id)
		}
	}
}

// without is a copy of a list without those that are out.
func without(list []standing, out func(standing) bool) []standing {
	return slices.DeleteFunc(slices.Clone(list), out)
}

// hopeful are the candidates that can be among the first, whenever they were
// last accessed: that alone is not known yet. A candidate's score lies between
// those of the two ends of decay, 0 and 1; whose upper end is below the lower
// end of as many others as are asked for has no hope. The others are moved to
// the front of found and returned.
func (s *Service) hopeful(q Query, seen sight, found []candidate) []candidate {
	if len(found) <= q.Limit {
		return found
	}
	lower := make([]float64, len(found))
	for i := range found {
		c := &found[i]
		lower[i] = Score(q.Mode, *q.Weights, c.relevance, 0, seen.index.docs[c.doc].Importance)
	}
	slices.SortFunc(lower, func(a, b float64) int { return cmp.Compare(b, a) })
	hopeful := 0
	for i := range found {
		if c := &found[i]; Score(q.Mode, *q.Weights, c.relevance, 1, seen.index.docs[c.doc].Importance) >= lower[q.Limit-1] {
			found[hopeful], found[i] = found[i], found[hopeful]
			hopeful++
		}
	}
	return found[:hopeful]
}

// guess puts candidates in order by the accesses that this process knows of.
func (s *Service) guess(q Query, x *index, found []candidate) []standing {
	list := make([]standing, len(found))
	for i := range found {
		d := &x.docs[found[i].doc]
		list[i] = s.standing(q, &found[i], d.Importance, d.lastAccess())
	}
	sortByScore(list)
	return list
}

// stand puts the candidates that were read in order.
func (s *Service) stand(q Query, x *index, rows map[string]row, found []candidate) []standing {
	list := make([]standing, 0, len(found))
	for i := range found {
		c := &found[i]
		r, there := rows[c.id]
		if !there {
			continue
		}
		importance := x.docs[c.doc].Importance
		if r.whole != nil {
			importance = r.whole.Importance
		}
		x.docs[c.doc].access(r.accessed)
		list = append(list, s.standing(q, c, importance, r.accessed))
	}
	sortByScore(list)
	return list
}

func (s *Service) standing(q Query, c *candidate, importance float64, accessed time.Time) standing {
	decay := 1.0
	if !c.fresh {
		decay = Decay(s.set.DecayRate, accessed, q.At)
	}
	return standing{c, decay, Score(q.Mode, *q.Weights, c.relevance, decay, importance)}
}

// read adds what the database has of memories to the rows. errPresumed: what
// was presumed does not hold.
func (s *Service) read(ctx context.Context, q Query, seen sight, rows map[string]row, whole, rest []standing) error {
	since := time.Time{}
	if seen.presumed {
		since = s.ownSince()
	} else if len(whole)+len(rest) == 0 {
		return nil
	}
	ids := func(list []standing) []string {
		ids := make([]string, len(list))
		for i, c := range list {
			ids[i] = c.id
		}
		return ids
	}
	read, err := s.records.Recalled(ctx, q.Owner, ids(whole), ids(rest), since)
	if err != nil {
		return err
	}
	if seen.presumed && (read.Fresh || read.Revision != seen.index.revision) {
		seen.index.held.Store(false)
		return errPresumed
	}
	for id, at := range read.Accessed {
		rows[id] = row{accessed: at}
	}
	for i := range read.Whole {
		rows[read.Whole[i].ID] = row{read.Whole[i].LastAccessedAt, &read.Whole[i]}
	}
	return nil
}

// recalled are the answered memories with every part of their scores.
func (s *Service) recalled(q Query, x *index, rows map[string]row, list []standing) []Recalled {
	recalled := make([]Recalled, len(list))
	for i, c := range list {
		m := rows[c.id].whole
		recalled[i] = Recalled{
			Memory: *m, Similarity: c.cosine, Lexical: c.bm25, Neighbour: c.neighbour,
			Speaker: c.speaker, Date: c.date, When: c.when, Question: c.question, Skill: c.skill, Relevance: c.relevance,
			Decay: c.decay, Importance: m.Importance, Score: c.score, Sources: c.sources.names(),
		}
		if !q.NoTouch {
			x.docs[c.doc].access(s.past(q.At))
		}
	}
	return recalled
}
