package recall

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"hippocampus/internal/memory"
)

// sources are the ways in which a candidate was found.
type sources uint8

const (
	fromOwn     sources = 1 << iota // in the database, not confirmed in the vector store
	fromVectors                     // by similarity
	fromWords
	fromSkill     // as the best proven workflow of a skill that a candidate is a workflow of
	fromSuccessor // since it superseded what a candidate states
	fromFormer    // superseded, by similarity or since a candidate superseded it
	fromDate      // by a time that the query names
	fromToDo      // as something still to be done
)

// The names of the sources in answers.
const (
	nameOwn       = "own_write"
	nameVectors   = "vector"
	nameWords     = "lexical"
	nameSkill     = "skill"
	nameSuccessor = "successor"
	nameFormer    = "former"
	nameDate      = "date"
	nameToDo      = "to_do"
)

// names lists the names of the sources in a fixed order.
func (s sources) names() []string { return sourceNames[s] }

var sourceNames = func() (names [1 << 8][]string) {
	for set := range names {
		for i, name := range []string{
			nameOwn, nameVectors, nameWords, nameSkill, nameSuccessor, nameFormer, nameDate, nameToDo,
		} {
			if set>>i&1 == 1 {
				names[set] = append(names[set], name)
			}
		}
	}
	return names
}()

// candidate is a memory that may be recalled, with its raw signals.
type candidate struct {
	id       string
	doc      int // its place in the index
	sources  sources
	compared bool    // cosine is known
	cosine   float64 // similarity to the query
	bm25     float64
	lexical  float64 // bm25 scaled to 0..1
	undated  float64 // lexical as if the texts of messages had no day
	numbers  float64 // added to the share of lexical in the fused value, for numbers of the query that it has
}

// candidates returns the candidates of each query.
func (s *Service) candidates(ctx context.Context, queries []subquery, vectors []queryVector, r searchResult) (
	lists [][]candidate, err error) {
	lists = make([][]candidate, len(queries))
	for i := range queries {
		lists[i] = s.candidatesOf(&queries[i], r, r.hits[i])
	}
	return lists, s.compareRest(ctx, queries[0].Owner, vectors, lists)
}

// candidatesOf unites the nearest hits, the best documents by words, the documents of the times that the query names,
// the documents that superseded any of these, and the best proven workflows of their skills.
func (s *Service) candidatesOf(q *subquery, r searchResult, hits []hit) []candidate {
	x, open := r.index, r.scope.open
	worded := wordingOf(q, r)
	lexical := s.scoreWords(worded.terms, x, r.postings, open)
	undated, postings := lexical, r.postings
	if without, differ := x.withoutDays(postings); differ {
		postings = without
		undated = s.scoreWords(worded.terms, x, postings, open)
	}
	numbers := numberLifts(numbersIn(q.Text), x, postings)
	list := make([]candidate, 0, 2*q.Candidates)
	order := map[int]int{} // places of candidates in list, by document
	add := func(doc int, source sources) {
		n, known := order[doc]
		if !known && worded.introduces(x, doc) {
			return
		}
		if !known {
			n = len(list)
			order[doc] = n
			list = append(list, candidate{id: x.id(doc), doc: doc})
		}
		list[n].sources |= source
	}
	similarities := make(map[int]float64, len(hits)) // by place
	for _, h := range hits {
		doc, known := x.place(h.id)
		if !known || !open[doc] {
			continue
		}
		similarities[doc] = h.similarity
		if _, isCandidate := order[doc]; isCandidate || len(list) < q.Candidates {
			add(doc, h.source)
		}
	}
	for _, doc := range lexical.best(x, s.set.Lift, open, q.Candidates) {
		add(doc, fromWords)
	}
	for _, doc := range q.cues.dated(x, lexical, open, q.Candidates) {
		add(doc, fromDate)
	}
	for _, doc := range q.cues.toBeDone(x, lexical, open, q.Candidates) {
		add(doc, fromToDo)
	}
	for _, o := range x.outdated { // its words and meaning may be far from the query
		if o.doc == o.message {
			continue // no active memory superseded it
		}
		if _, isCandidate := order[int(o.message)]; isCandidate && open[o.doc] {
			add(int(o.doc), fromSuccessor)
		}
		if _, isCandidate := order[int(o.doc)]; q.IncludeFormer && isCandidate && open[o.message] {
			add(int(o.message), fromFormer)
		}
	}
	for _, doc := range provenWorkflows(list, x, open) {
		add(doc, fromSkill)
	}
	for i := range list {
		c := &list[i]
		c.bm25, c.lexical = lexical.bm25[c.doc], lexical.relative[c.doc]
		c.undated = undated.relative[c.doc]
		if numbers != nil {
			c.numbers = numbers[c.doc]
		}
		c.cosine, c.compared = similarities[c.doc]
	}
	return list
}

// provenWorkflows returns the place of the most important open workflow of each skill that a candidate is a workflow
// of, the first by id of several, unless that workflow is a candidate itself. The words and the meaning of that
// workflow may be far from the query.
func provenWorkflows(list []candidate, x *index, open []bool) []int {
	best := map[string]int{} // places by skill
	for _, c := range list {
		if name := x.skillOf(c.doc); name != "" {
			best[name] = c.doc
		}
	}
	if len(best) == 0 {
		return nil
	}
	for doc := range x.docs {
		name := x.skillOf(doc)
		if b, wanted := best[name]; wanted && open[doc] && cmp.Or(
			cmp.Compare(x.docs[b].importance, x.docs[doc].importance), x.compareIDs(doc, b)) < 0 {
			best[name] = doc
		}
	}
	for _, c := range list {
		if name := x.skillOf(c.doc); best[name] == c.doc {
			delete(best, name)
		}
	}
	return slices.Collect(maps.Values(best))
}

// compareRest compares the candidates of each query that are not among its hits: only words or skills found them. It
// reads the embeddings for all queries at once.
func (s *Service) compareRest(
	ctx context.Context, owner memory.Owner, vectors []queryVector, lists [][]candidate,
) error {
	missing := map[string]bool{}
	for i, list := range lists {
		for _, c := range list {
			if vectors[i].values != nil && !c.compared {
				missing[c.id] = true
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	ids := slices.Collect(maps.Keys(missing))
	embeddings, err := s.records.Embeddings(ctx, owner, vectors[0].embedder.Model(), ids)
	if err != nil {
		return err
	}
	for i, list := range lists {
		for j := range list {
			c := &list[j]
			if v := embeddings[c.id]; !c.compared && vectors[i].values != nil && len(v) == len(vectors[i].values) {
				c.cosine, c.compared = Cosine(vectors[i].values, v), true
			}
		}
	}
	return nil
}
