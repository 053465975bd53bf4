package episodes

import (
	"cmp"
	_ "embed"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/lang/function"
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

// use is a term as one statement has it.
type use struct {
	key, surface string
	named        bool // it begins with a capital letter, and no sentence begins with it
	length       int  // words, or characters of a script without spaces
	spaced       bool
}

//go:embed plain.txt
var plainFile string

// plain are words, characters and pairs of characters that name no subject, and after a + pairs that do in spite of a
// plain character.
var plain = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(plainFile) {
		words[word] = true
	}
	return words
})

// usesOf returns the terms of a statement by their keys: words, pairs of words, and two to four characters of a script
// without spaces.
func usesOf(content string) map[string]use {
	uses := map[string]use{}
	add := func(u use) {
		if before, known := uses[u.key]; !known || u.named && !before.named {
			uses[u.key] = u
		}
	}
	var last use
	begins := true
	for _, run := range runsOf(content) {
		switch first, _ := utf8.DecodeRuneInString(run); {
		case text.IsUnspaced(first):
			addParts([]rune(run), add)
			last = use{}
		case unicode.IsLetter(first):
			u := wordOf(run, begins)
			begins = false
			if u.key != "" && len([]rune(run)) >= 3 {
				add(u)
			}
			if u.key != "" && last.key != "" {
				add(use{
					key: last.key + " " + u.key, surface: last.surface + " " + u.surface, named: last.named && u.named,
					length: 2, spaced: true,
				})
			}
			last = u
		case run != " ":
			last = use{}
			begins = begins || strings.ContainsAny(run, ".!?:")
		}
	}
	return uses
}

// runsOf cuts a text into words, runs of a script without spaces, and what is between.
func runsOf(content string) (runs []string) {
	kind, start := -1, 0
	for i, r := range content {
		now := 0
		switch {
		case text.IsUnspaced(r):
			now = 1
		case unicode.IsLetter(r), kind == 2 && (unicode.IsDigit(r) || unicode.IsMark(r) || r == '-'):
			now = 2
		}
		if kind >= 0 && now != kind {
			runs = append(runs, content[start:i])
			start = i
		}
		kind = now
	}
	if start < len(content) {
		runs = append(runs, content[start:])
	}
	return runs
}

// wordOf returns a word as a term. Its key is empty if it names no subject.
func wordOf(word string, begins bool) use {
	lower := strings.ToLower(word)
	lexemes := text.Lexemes(word)
	if len(lexemes) == 0 || lexemes[0] == "not" || plain()[lower] || function.Is(lower) {
		return use{}
	}
	u := use{key: strings.Join(lexemes, " "), surface: word, length: 1, spaced: true}
	first, _ := utf8.DecodeRuneInString(word)
	switch {
	case unicode.IsUpper(first) && begins && word[1:] == lower[1:]:
		u.surface = lower // it may be no name
	case unicode.IsUpper(first):
		u.named = true
	}
	return u
}

const (
	minPart = 2
	maxPart = 4 // characters
)

// addParts adds the parts of a run of characters that have no plain ones.
func addParts(run []rune, add func(use)) {
	for i := range run {
		for n := minPart; n <= maxPart && i+n <= len(run); n++ {
			if part := run[i : i+n]; !hasPlain(part) {
				add(use{key: string(part), surface: string(part), length: n})
			}
		}
	}
}

// hasPlain reports whether a part has a plain pair of characters, or a plain character outside of a word such as 上海.
func hasPlain(part []rune) bool {
	isWord := func(i int) bool { return i >= 0 && i+2 <= len(part) && plain()["+"+string(part[i:i+2])] }
	for i := range part {
		if plain()[string(part[i])] && !isWord(i) && !isWord(i-1) || i > 0 && plain()[string(part[i-1:i+1])] {
			return true
		}
	}
	return false
}

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
		tells float64
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
		t.tells = math.Log(1+(rest+1)/(8*others+1)) * lengthens(t.use)
		if t.named {
			t.tells *= 1.25
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
			return sum * t.tells
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
