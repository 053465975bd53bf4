package scorer

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// An expression is a regular expression that is tried only on sentences in which
// it can be found at all:
//
//	expression -> its syntax -> needles, one of which is in whatever it matches
//	sentence -> folded, its pairs of bytes -> has none of the needles: no match
//
// Most sentences match few patterns, and to look for words is much faster than to
// run an expression.
type expression struct {
	*regexp.Regexp
	needles []string // folded; nil: any sentence may match
}

// newExpression reads an expression in which upper and lower case are the same.
func newExpression(s string) expression {
	s = "(?i)" + s
	e := expression{Regexp: regexp.MustCompile(s)}
	if tree, err := syntax.Parse(s, syntax.Perl); err == nil {
		e.needles = needlesOf(tree.Simplify()).best()
	}
	return e
}

// in reports whether the sentence matches.
func (e expression) in(s *sentence) bool {
	return (e.needles == nil || slices.ContainsFunc(e.needles, s.has)) && e.MatchString(s.text)
}

// sentence is a text that many expressions are tried on.
type sentence struct {
	text, folded string
	pairs        [1 << 12 / 64]uint64 // a set of the hashes of neighbouring bytes in folded
}

func newSentence(text string) *sentence {
	s := &sentence{text: text, folded: strings.Map(fold, text)}
	for i := 1; i < len(s.folded); i++ {
		h := pair(s.folded[i-1:])
		s.pairs[h/64] |= 1 << (h % 64)
	}
	return s
}

// pair hashes the first two bytes of a text to 12 bits.
func pair(s string) uint { return (uint(s[0])<<6 ^ uint(s[1])) & (1<<12 - 1) }

func (s *sentence) has(needle string) bool {
	for i := 0; i+1 < len(needle); i++ {
		if h := pair(needle[i:]); s.pairs[h/64]&(1<<(h%64)) == 0 {
			return false
		}
	}
	return strings.Contains(s.folded, needle)
}

// fold maps all cases of a character to one, the same as (?i) takes for the same.
func fold(r rune) rune {
	if r < unicode.MaxASCII {
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// needles is what is known of the texts that a piece of an expression matches.
type needles struct {
	exact []string // all of them, folded; nil: they cannot be listed
	some  []string // one of these is in each of them; nil: nothing is known
}

// maxNeedles is how many texts are listed.
const maxNeedles = 100

// best is the set of which a needle is in whatever the piece matches.
func (n needles) best() []string {
	if n.exact == nil {
		return n.some
	}
	return better(n.exact, nil)
}

// better is the set that fewer texts have: that of the longer shortest needle.
func better(a, b []string) []string {
	if shortest(a) > shortest(b) {
		return a
	}
	return b
}

func shortest(set []string) int {
	if len(set) == 0 {
		return 0
	}
	return len(slices.MinFunc(set, func(a, b string) int { return len(a) - len(b) }))
}

// needlesOf reads a simplified expression.
func needlesOf(e *syntax.Regexp) needles {
	switch e.Op {
	case syntax.OpLiteral:
		return needles{exact: []string{strings.Map(fold, string(e.Rune))}}
	case syntax.OpCharClass:
		return classNeedles(e.Rune)
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return needles{exact: []string{""}}
	case syntax.OpCapture:
		return needlesOf(e.Sub[0])
	case syntax.OpQuest:
		if sub := needlesOf(e.Sub[0]); sub.exact != nil {
			return needles{exact: distinct(append([]string{""}, sub.exact...))}
		}
	case syntax.OpPlus:
		return needles{some: needlesOf(e.Sub[0]).best()}
	case syntax.OpConcat:
		return chainNeedles(e.Sub)
	case syntax.OpAlternate:
		return choiceNeedles(e.Sub)
	}
	return needles{}
}

func classNeedles(ranges []rune) (n needles) {
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if n.exact = append(n.exact, string(fold(r))); len(n.exact) > maxNeedles {
				return needles{}
			}
		}
	}
	return needles{exact: distinct(n.exact)}
}

// chainNeedles joins what follows one another as long as it can be listed.
func chainNeedles(parts []*syntax.Regexp) needles {
	run, whole := []string{""}, true // texts of the latest parts; of all of them
	var some []string
	for _, part := range parts {
		n := needlesOf(part)
		if n.exact != nil && len(run)*len(n.exact) <= maxNeedles {
			run = products(run, n.exact)
			continue
		}
		some, whole = better(run, some), false
		if run = n.exact; n.exact == nil {
			some, run = better(n.some, some), []string{""}
		}
	}
	if whole {
		return needles{exact: run}
	}
	return needles{some: better(run, some)}
}

func products(first, second []string) (joined []string) {
	for _, a := range first {
		for _, b := range second {
			joined = append(joined, a+b)
		}
	}
	return distinct(joined)
}

func choiceNeedles(choices []*syntax.Regexp) needles {
	var exact, some []string
	listed, known := true, true
	for _, choice := range choices {
		n := needlesOf(choice)
		listed = listed && n.exact != nil
		exact = append(exact, n.exact...)
		one := n.best()
		known = known && one != nil
		some = append(some, one...)
	}
	var n needles
	if exact = distinct(exact); listed && len(exact) <= maxNeedles {
		n.exact = exact
	}
	if known {
		n.some = distinct(some)
	}
	return n
}

func distinct(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}
