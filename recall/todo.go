package recall

import (
	"cmp"
	"slices"

	"hippocampus/db"
	"hippocampus/internal/lang/todo"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// toDoIn returns what a document says of something to be done; Nothing unless the user said it. Only a text of one
// clause says that something is done, since the words of another clause may be about something else.
func toDoIn(d *db.Document) todo.State {
	if d.Type == memory.TypeMessage && d.Speaker != memory.RoleUser {
		return todo.Nothing
	}
	state := todo.Of(d.Content)
	if state == todo.Done && !isPlainClause(d.Content) {
		return todo.Nothing
	}
	return state
}

// What makes a later statement that something is done count for something to be done.
const (
	doneShare = 0.5 // least share of the words of what was to be done that it has
	doneWords = 2   // least number of these words
)

// toDoWords are the hashes of lexemes that say that something is to be done, and not what.
var toDoWords = appendHashes(nil, text.Join(text.Lexemes("need still must remind forget supposed sure yet 我要 我得 还没")))

// toBeDone returns the places of at most n open documents that say what is still to be done, if the query asks for
// that: the best by words if it asks for some topic, and of equal ones the latest. What a later document says is done
// is left out.
func (c *queryCues) toBeDone(x *index, lexical lexicalScores, open []bool, n int) (places []int) {
	if c.toDo == todo.NotAsked {
		return nil
	}
	for doc := range x.docs {
		if open[doc] && x.docs[doc].todo == todo.Open {
			places = append(places, doc)
		}
	}
	places = x.withoutDone(places)
	slices.SortFunc(places, func(a, b int) int {
		byWords := 0
		if c.toDo == todo.OfTopic {
			byWords = cmp.Compare(lexical.relative[b], lexical.relative[a])
		}
		return cmp.Or(byWords, cmp.Compare(x.docs[b].created, x.docs[a].created), x.compareIDs(a, b))
	})
	return places[:min(n, len(places))]
}

// fits is how well a memory fits a query that names no words, 0..1: it states what is still to be done, or fits the
// times of the query.
func (c *queryCues) fits(x *index, r *relevant) float64 {
	if c.toDo == todo.Everything && r.sources&fromToDo != 0 {
		return 1
	}
	return c.dateMatch(&x.docs[r.doc])
}

// withoutDone returns the documents that no later document says the end of.
func (x *index) withoutDone(places []int) []int {
	words, having := make([]int, len(places)), map[uint64][]int{} // by place in places
	for i, doc := range places {
		for word := range x.saidIn(doc) {
			if !slices.Contains(toDoWords, word) {
				having[word] = append(having[word], i)
				words[i]++
			}
		}
	}
	ended, said := make([]bool, len(places)), make([]int, len(places))
	for other := range x.docs {
		if x.docs[other].todo != todo.Done {
			continue
		}
		clear(said)
		for word := range x.saidIn(other) {
			for _, i := range having[word] {
				said[i]++
			}
		}
		for i, doc := range places {
			ended[i] = ended[i] || x.docs[other].created > x.docs[doc].created &&
				said[i] >= doneWords && float64(said[i]) >= doneShare*float64(words[i])
		}
	}
	kept := places[:0]
	for i, doc := range places {
		if !ended[i] {
			kept = append(kept, doc)
		}
	}
	return kept
}
