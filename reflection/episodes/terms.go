package episodes

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/text"
)

// Term is a word or words of statements.
type Term struct {
	Text string   `json:"text"`
	Of   []string `json:"of"` // ids of statements that have it, at least one
}

const (
	maxTerms     = 8
	maxWitnesses = 3 // statements of a term
)

// corpus counts in how many statements of a user each term is.
type corpus struct {
	statements int
	counts     map[string]int
	uses       map[string]map[string]use // by the ids of the statements
}

func corpusOf(items []item) corpus {
	c := corpus{statements: len(items), counts: map[string]int{}, uses: map[string]map[string]use{}}
	for _, it := range items {
		c.uses[it.id] = usesOf(it.content)
		for key := range c.uses[it.id] {
			c.counts[key]++
		}
	}
	return c
}

// termsOf returns what statements have and the others have not, the most telling first. No two terms have a word in
// common. A term of many statements counts more, as do a longer one, a name, and one of statements that the terms
// before it are not of.
func (c corpus) termsOf(statements []item) []Term {
	type candidate struct {
		use
		of    []string
		score float64
	}
	byKey := map[string]*candidate{}
	for _, it := range statements {
		for key, u := range c.uses[it.id] {
			if byKey[key] == nil {
				byKey[key] = &candidate{use: u}
			} else if u.named || !byKey[key].named && len(u.surface) < len(byKey[key].surface) {
				byKey[key].use = u
			}
			byKey[key].of = append(byKey[key].of, it.id)
		}
	}
	var candidates []*candidate
	within := map[string]int{} // in how many statements a part of one character more has a part
	for key, t := range byKey {
		if runes := []rune(key); !t.spaced && len(runes) > minPart {
			for _, part := range []string{string(runes[1:]), string(runes[:len(runes)-1])} {
				within[part] = max(within[part], len(t.of))
			}
		}
		others := float64(c.counts[key] - len(t.of))
		rest := float64(c.statements - len(statements))
		if 2*others*float64(len(statements)) > float64(len(t.of))*rest {
			continue // the others have it half as often, as the user's name
		}
		t.score = math.Log(1+(rest+1)/(8*others+1)) * lengthens(t.use)
		if t.named {
			t.score *= 1.25
		}
		candidates = append(candidates, t)
	}
	candidates = slices.DeleteFunc(candidates, func(t *candidate) bool { // a part of what is said as a whole
		return !t.spaced && within[t.key] == len(t.of)
	})
	covered := map[string]float64{}
	var terms []Term
	for len(terms) < maxTerms && len(candidates) > 0 {
		worth := func(t *candidate) (sum float64) {
			for _, id := range t.of {
				sum += math.Pow(0.6, covered[id])
			}
			if len(t.of) == 1 {
				sum *= 0.4
			}
			return sum * t.score
		}
		best := slices.MaxFunc(candidates, func(a, b *candidate) int {
			return cmp.Or(cmp.Compare(worth(a), worth(b)), cmp.Compare(b.key, a.key))
		})
		if len(best.of) < 2 && len(terms) > 0 {
			break
		}
		terms = append(terms, Term{Text: best.surface, Of: best.of[:min(len(best.of), maxWitnesses)]})
		for _, id := range best.of {
			covered[id]++
		}
		candidates = slices.DeleteFunc(candidates, func(t *candidate) bool { return overlap(t.use, best.use) })
	}
	return terms
}

// lengthens returns the factor by which a longer term counts more.
func lengthens(u use) float64 {
	if u.spaced {
		return 1 + 0.5*float64(u.length-1)
	}
	return 1 + 0.35*float64(u.length-minPart)
}

// sharesPair reports whether a pair of characters is in both.
func sharesPair(a []rune, b string) bool {
	for i := range len(a) - 1 {
		if strings.Contains(b, string(a[i:i+2])) {
			return true
		}
	}
	return false
}

// overlap reports whether two terms have a word, or a pair of characters, in common.
func overlap(a, b use) bool {
	if a.spaced != b.spaced {
		return false
	}
	if !a.spaced {
		return sharesPair([]rune(a.key), b.key)
	}
	for _, word := range strings.Fields(a.key) {
		if slices.Contains(strings.Fields(b.key), word) {
			return true
		}
	}
	return false
}

const titled = 3 // terms in a title

// titleOf writes terms as a title.
func titleOf(terms []Term) string {
	var parts []string
	separator := ", "
	for i, t := range terms {
		if i == titled {
			break
		}
		if first, _ := utf8.DecodeRuneInString(t.Text); i == 0 && text.IsUnspaced(first) {
			separator = "、"
		}
		parts = append(parts, t.Text)
	}
	title := strings.Join(parts, separator)
	first, size := utf8.DecodeRuneInString(title)
	return string(unicode.ToUpper(first)) + title[size:]
}
