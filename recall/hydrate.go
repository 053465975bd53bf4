package recall

import (
	"context"
	"slices"
	"time"

	"hippocampus/internal/memory"
)

// row is what was read of a memory.
type row struct {
	accessed time.Time
	whole    *memory.Memory // nil if only the last access was read
}

// hydrate reads candidates from the database and returns the best, at most Limit. It reads the whole rows of the
// contenders that are probably the first, and only the last accesses of the others, since these decide the order. If
// its last access moves another contender up, the whole row of that contender is read also. Memories that are missing,
// inactive or another owner's are dropped, and the next best move up, even pruned ones. A memory that seems to update
// what the first one says is put before it. Sentences that repeat a former statement are cut out of the rows, and a row
// without other sentences is dropped. A message that answers in the words of another voice has half of its confidence.
// It is dropped if that is below the query's minimum, and the next best memory moves up.
func (s *Service) hydrate(
	ctx context.Context, q Query, about userTerms, u updates, r *repetitions, contenders, pruned []scored,
) ([]Recalled, error) {
	x := r.x
	rows := make(map[string]row, len(contenders))
	wanted := u.widen(q).Limit
	n := min(wanted, len(contenders))
	whole, rest := contenders[:n], contenders[n:]
	for {
		if err := s.readRows(ctx, q, x, rows, whole, rest); err != nil {
			return nil, err
		}
		r.apply(rows, contenders)
		if len(rows) < len(contenders) && len(pruned) > 0 {
			whole, rest = nil, pruned
			contenders, pruned = slices.Concat(contenders, pruned), nil
			continue
		}
		list := s.scoreRows(q, x, rows, contenders)
		list = list[:min(wanted, len(list))]
		whole, rest = slices.DeleteFunc(slices.Clone(list), func(c scored) bool { return rows[c.id].whole != nil }), nil
		if len(whole) == 0 {
			isUnsure := func(c scored) bool {
				r, read := rows[c.id]
				return read && r.whole != nil && otherVoice*c.confidence < q.MinConfidence && about.isOthers(*r.whole)
			}
			if slices.ContainsFunc(list, isUnsure) {
				contenders = slices.Concat(slices.DeleteFunc(slices.Clone(contenders), isUnsure), pruned)
				whole, rest = nil, pruned
				pruned = nil
				continue
			}
			u.raise(list, rows)
			list = list[:min(q.Limit, len(list))]
			recalled := make([]Recalled, 0, len(list))
			for _, c := range list {
				recalled = append(recalled, s.recalled(q, about, c, *rows[c.id].whole))
				if !q.NoTouch {
					x.access(c.doc, s.notAfterNow(q.At))
				}
			}
			return recalled, nil
		}
		for _, c := range whole {
			delete(rows, c.id) // it is read again, and may have been deleted since
		}
	}
}

// readRows adds to rows what the database has of memories: the whole rows of
// some, the last access of the rest. The rows of superseded memories have been read before. Rows of the query's
// WithoutTurn are dropped.
func (s *Service) readRows(
	ctx context.Context, q Query, x *index, rows map[string]row, whole, rest []scored,
) error {
	ids := func(list []scored) []string {
		ids := make([]string, 0, len(list))
		for _, c := range list {
			if m, superseded := x.superseded[c.doc]; superseded {
				rows[c.id] = row{accessed: m.LastAccessedAt, whole: m}
			} else {
				ids = append(ids, c.id)
			}
		}
		return ids
	}
	wholeIDs, restIDs := ids(whole), ids(rest)
	if len(wholeIDs)+len(restIDs) == 0 {
		return nil
	}
	read, err := s.records.Recalled(ctx, q.Owner, wholeIDs, restIDs)
	if err != nil {
		return err
	}
	for id, at := range read.Accessed {
		rows[id] = row{accessed: at}
	}
	for i := range read.Whole {
		m := &read.Whole[i]
		if q.WithoutTurn != "" && m.SourceTurnID == q.WithoutTurn {
			continue
		}
		rows[m.ID] = row{accessed: m.LastAccessedAt, whole: m}
	}
	return nil
}

// scoreRows orders the candidates that have a row.
func (s *Service) scoreRows(q Query, x *index, rows map[string]row, list []scored) []scored {
	ordered := make([]scored, 0, len(list))
	known := func(doc int) (importance float64, accessed time.Time) {
		importance, accessed = x.known(doc)
		if r, read := rows[x.id(doc)]; read {
			accessed = r.accessed
			if r.whole != nil {
				importance = r.whole.Importance
			}
		}
		return importance, accessed
	}
	for _, c := range list {
		r, read := rows[c.id]
		if !read {
			continue
		}
		x.access(c.doc, r.accessed)
		importance := x.docs[c.doc].importance
		if r.whole != nil {
			importance = r.whole.Importance
		}
		importance, accessed := c.limit(x.counted(c.doc, importance), r.accessed, known)
		ordered = append(ordered, s.score(q, c.relevant, importance, accessed))
	}
	sortByScore(ordered)
	return ordered
}

// recalled returns a memory with every part of its score.
func (s *Service) recalled(q Query, about userTerms, c scored, m memory.Memory) Recalled {
	r := Recalled{
		Memory: m, Similarity: c.cosine, Lexical: c.bm25, Neighbour: c.neighbour, Speaker: c.speaker, Date: c.date,
		When: c.when, ToDo: c.toDo, Routed: c.routed, Question: c.question, Message: c.message, Skill: c.skill,
		Rerank: c.rerank, Relevance: c.relevance, Confidence: c.confidence, Decay: c.decay, Importance: m.Importance,
		Updates: c.update.earlier, Update: c.update.lift, Score: c.score, Sources: c.sources.names(),
	}
	if about.isOthers(m) {
		r.Confidence *= otherVoice
	}
	if c.former != nil {
		r.FormerUntil = c.former.until
	}
	if q.Explain {
		r.Parts = s.parts(q, c)
	}
	return r
}
