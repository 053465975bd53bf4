package recall

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"hippocampus/internal/memory"
)

// fadedMatch is how well the words of a faded memory match a query.
type fadedMatch struct {
	id       string
	coverage float64 // share of the query's words, by idf, that it has, 0..1
	bm25     float64
}

// matchFaded compares the words of faded memories with a query and returns the memories that have any of its words,
// best first:
//
//	coverage = sum of the idf of the query's words that the memory has / sum of the idf of all its words
//
// N and df count active and faded memories. Names of the user do not count, as in wordingOf. The fit has
// no coverage yet.
func (s *Service) matchFaded(q *subquery, r searchResult, faded *fadedWords) ([]fadedMatch, Fit) {
	worded := wordingOf(q, r)
	known := slices.Concat(idNames(q.Owner), worded.named)
	var terms []string
	for _, term := range worded.terms {
		if !slices.Contains(known, term) {
			terms = append(terms, term)
		}
	}
	places := make(map[uint64]int, len(terms))
	for i, term := range terms {
		places[xxhash.Sum64String(term)] = i
	}
	names, nameOf := postings{}, map[uint64]string{}
	for _, lexeme := range nameLexemes(q.Text) {
		names[lexeme], nameOf[xxhash.Sum64String(lexeme)] = r.postings[lexeme], lexeme
	}
	counts := make([]uint32, len(faded.ids)*len(terms)) // by memory and term
	df := make([]int, len(terms))
	for i := range faded.ids {
		of := counts[i*len(terms) : (i+1)*len(terms)]
		for _, hash := range faded.lexemesOf(i) {
			if place, wanted := places[hash]; wanted {
				of[place]++
				if of[place] == 1 {
					df[place]++
				}
			}
			if name, isName := nameOf[hash]; isName && len(names[name]) == 0 {
				names[name] = []posting{{}}
			}
		}
	}
	n := len(r.index.docs) + len(faded.ids)
	fit := Fit{UnknownNames: unknownNames(namesAmong(names, r.postings), known, q.Text), Memories: n}
	idfs, all := make([]float64, len(terms)), 0.0
	for t, term := range terms {
		idfs[t] = idf(n, df[t]+len(r.postings[term]))
		all += idfs[t]
	}
	if all == 0 {
		return nil, fit
	}
	average := float64(len(faded.lexemes)+len(r.index.lexemes)) / float64(n)
	var matches []fadedMatch
	for i := range faded.ids {
		m := fadedMatch{}
		length := float64(len(faded.lexemesOf(i)))
		norm := s.set.BM25.K1 * (1 - s.set.BM25.B + s.set.BM25.B*length/average)
		for t, weight := range idfs {
			if tf := float64(counts[i*len(terms)+t]); tf > 0 {
				m.coverage += weight / all
				m.bm25 += weight * tf * (s.set.BM25.K1 + 1) / (tf + norm)
			}
		}
		if m.coverage > 0 {
			m.id = faded.id(i)
			matches = append(matches, m)
		}
	}
	slices.SortFunc(matches, func(a, b fadedMatch) int {
		return cmp.Or(cmp.Compare(b.coverage, a.coverage), cmp.Compare(b.bm25, a.bm25), cmp.Compare(a.id, b.id))
	})
	return matches, fit
}

// namesAmong adds the postings of names in faded memories to those of active memories, so that these names are known.
func namesAmong(names, active postings) postings {
	all := make(postings, len(active)+len(names))
	for lexeme, list := range active {
		all[lexeme] = list
	}
	for lexeme, list := range names {
		all[lexeme] = list
	}
	return all
}

// recollectFor returns at most mostRecollected faded memories that answer one query, best first. Each has at least this
// confidence, both by its words alone and by its words and embedding.
func (s *Service) recollectFor(
	ctx context.Context, q subquery, vector queryVector, r searchResult, words *fadedWords, least float64,
) ([]Recalled, error) {
	matches, fit := s.matchFaded(&q, r, words)
	end := slices.IndexFunc(matches, func(m fadedMatch) bool {
		fit.Closeness, fit.Coverage = neutralCloseness, m.coverage
		return fit.confidence(1) < least
	})
	if end >= 0 {
		matches = matches[:end]
	}
	var found []Recalled
	for page := range slices.Chunk(matches, fadedPage) {
		hits, err := s.readFaded(ctx, q.Query, vector, fit, page)
		if err != nil {
			return nil, err
		}
		isUnsure := func(r Recalled) bool { return r.Confidence < least }
		found = append(found, slices.DeleteFunc(hits, isUnsure)...)
		found, err = s.foldFaded(ctx, q.Owner, found)
		if err != nil {
			return nil, err
		}
		if !q.IncludeFormer && !q.IncludeExpired {
			found = slices.DeleteFunc(found, func(r Recalled) bool { return r.Memory.HasExpired(q.At) })
		}
		if len(found) >= mostRecollected {
			return found[:mostRecollected], nil
		}
	}
	return found, nil
}

// readFaded reads matches from the database and returns those that pass the filters of a query, in the same order.
func (s *Service) readFaded(
	ctx context.Context, q Query, vector queryVector, fit Fit, matches []fadedMatch,
) ([]Recalled, error) {
	ids := make([]string, len(matches))
	for i, m := range matches {
		ids[i] = m.id
	}
	rows, err := s.records.Recollectable(ctx, q.Owner, ids)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(m memory.Memory) bool { return !q.admits(&m) })
	embeddings := map[string][]float32{}
	if vector.values != nil && len(rows) > 0 {
		if embeddings, err = s.records.Embeddings(ctx, q.Owner, vector.embedder.Model(), memory.IDs(rows)); err != nil {
			return nil, err
		}
	}
	var found []Recalled
	for _, match := range matches {
		i := slices.IndexFunc(rows, func(m memory.Memory) bool { return m.ID == match.id })
		if i < 0 {
			continue
		}
		c := relevant{candidate: candidate{id: match.id, bm25: match.bm25}}
		if v := embeddings[match.id]; v != nil && len(v) == len(vector.values) {
			c.cosine, c.compared = Cosine(vector.values, v), true
			if q.MinSimilarity != 0 && c.cosine < q.MinSimilarity {
				continue
			}
		}
		fit.Closeness, fit.Coverage = s.closeness(q, vector, []relevant{c}, match.coverage), match.coverage
		decay := Decay(q.DecayRate, rows[i].LastAccessedAt, q.At)
		var until time.Time
		if rows[i].HasExpired(q.At) {
			until = rows[i].ExpiresAt
		}
		found = append(found, Recalled{
			Memory: rows[i], FormerUntil: until, Recollected: true, Similarity: c.cosine, Lexical: c.bm25,
			Relevance: match.coverage, Confidence: fit.confidence(1), Decay: decay, Importance: rows[i].Importance,
			Score:   Score(q.Mode, *q.Weights, match.coverage, decay, rows[i].Importance),
			Sources: []string{nameWords},
		})
	}
	return found, nil
}

// foldFaded drops the messages that one of the faded memories was taken from, since that memory stands for them. Of
// memories with the same words the first is kept.
func (s *Service) foldFaded(ctx context.Context, owner memory.Owner, found []Recalled) ([]Recalled, error) {
	isMessage := func(r Recalled) bool { return r.Memory.Type == memory.TypeMessage }
	if len(found) < 2 {
		return found, nil
	}
	sources, err := s.records.Sources(ctx, owner, idsOf(found))
	if err != nil {
		return nil, err
	}
	all := slices.Clone(found)
	found = slices.DeleteFunc(found, func(r Recalled) bool {
		return isMessage(r) && slices.ContainsFunc(all, func(fact Recalled) bool {
			return slices.Contains(memory.IDs(sources[fact.Memory.ID]), r.Memory.ID)
		})
	})
	seen := map[string]bool{}
	return slices.DeleteFunc(found, func(r Recalled) bool {
		repeated := seen[r.Memory.Lexemes]
		seen[r.Memory.Lexemes] = true
		return repeated
	}), nil
}

// admits reports whether a faded memory passes the filters of a query.
func (q *Query) admits(m *memory.Memory) bool {
	k := kind{Domain: m.Domain, Type: m.Type, AgentID: m.AgentID, ConversationID: m.ConversationID}
	d := document{importance: m.Importance, created: m.CreatedAt.UnixMicro()}
	lacks := func(tag string) bool { return !slices.Contains(m.Tags, tag) }
	return q.allows(&k, &d) && !slices.ContainsFunc(q.Tags, lacks) && q.Where.Matches(m)
}
