package recall

import (
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/scorer/attribute"
)

// wording is how a query is worded.
type wording struct {
	terms []string // by which memories are ranked; no names of the user, unless there are no other terms
	named []string // terms that name the user, if there are other terms
}

// wordingOf separates the names of the user from the other terms of a query. Every memory is about the user, so
// the name distinguishes no memory from another, though few may have it.
func wordingOf(q *subquery, r searchResult) wording {
	w := wording{}
	names := idNames(q.Owner)
	for _, term := range q.terms {
		if slices.Contains(names, term) || r.statesName(term) {
			w.named = append(w.named, term)
		} else {
			w.terms = append(w.terms, term)
		}
	}
	if len(w.terms) == 0 {
		return wording{terms: q.terms}
	}
	return w
}

// idNames returns the words of a user id, which often is a name. Of an e-mail address the domain is left out.
func idNames(owner memory.Owner) []string {
	id, _, _ := strings.Cut(owner.UserID, "@")
	return text.Lexemes(id)
}

// statesName reports whether an open fact states this term as the user's name.
func (r searchResult) statesName(term string) bool {
	return slices.ContainsFunc(r.postings[term], func(p posting) bool {
		called := r.index.called[r.index.docs[p.doc].called]
		return called != "" && r.scope.open[p.doc] && slices.Contains(text.Lexemes(called), term)
	})
}

// introduces reports whether a document says no more than the name by which a query names the user: it has no other
// words, or states the name in two words, such as "My name is Nora."
func (w wording) introduces(x *index, doc int) bool {
	if len(w.named) == 0 {
		return false
	}
	if called := text.Lexemes(x.called[x.docs[doc].called]); len(called) > 0 {
		names := func(term string) bool { return slices.Contains(called, term) }
		return int(x.docs[doc].length) <= len(called)+2 && slices.ContainsFunc(w.named, names)
	}
	lexemes := x.lexemesOf(doc)
	return len(lexemes) > 0 && !slices.ContainsFunc(lexemes, func(lexeme uint64) bool {
		return !slices.ContainsFunc(w.named, func(name string) bool { return xxhash.Sum64String(name) == lexeme })
	})
}

// introductions lists words in lower case. Each statement of one's own name that calledIn reads has one of them.
var introductions = []string{"name", "call", "go by", "goes by", "叫", "名", "称呼"}

const longestIntroduction = 200 // bytes; longer statements are not read

// calledIn returns the name that a statement gives as the user's own, in lower case; "" if it gives no name.
func calledIn(content string) string {
	if len(content) > longestIntroduction {
		return ""
	}
	lower := strings.ToLower(content)
	if !slices.ContainsFunc(introductions, func(s string) bool { return strings.Contains(lower, s) }) {
		return ""
	}
	return attribute.Name(content)
}
