package scorer

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// expression is a regular expression with needles: texts one of which occurs in every
// match. It is not run on a sentence without a needle, since searching for texts is much
// faster than running an expression.
type expression struct {
	*regexp.Regexp
	needles []string // folded; nil: every sentence may match
}

// newExpression compiles an expression that ignores case.
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

type sentence struct {
	text, folded string
}

func newSentence(text string) *sentence {
	return &sentence{text: text, folded: strings.Map(fold, text)}
}

func (s *sentence) has(needle string) bool { return strings.Contains(s.folded, needle) }

// fold maps all cases of a character, as (?i) defines them, to one.
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

// needles describes the texts that a part of an expression matches.
type needles struct {
	exact []string // all texts, folded; nil: they cannot be listed
	some  []string // every text contains one of these; nil: unknown
}

// maxNeedles is the greatest number of listed texts.
const maxNeedles = 100

// best returns a set of texts of which every match contains one, or nil if none is known.
func (n needles) best() []string {
	if n.exact == nil {
		return n.some
	}
	return better(n.exact, nil)
}

// better returns the more selective set: the one whose shortest text is longer.
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

// needlesOf analyses a simplified expression.
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

// chainNeedles joins consecutive parts as long as their texts can be listed.
func chainNeedles(parts []*syntax.Regexp) needles {
	run, whole := []string{""}, true // run: texts of the latest parts; whole: they are all parts
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
