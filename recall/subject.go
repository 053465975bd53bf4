package recall

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/cespare/xxhash/v2"

	"hippocampus/internal/lang/asked"
	"hippocampus/internal/lang/change"
	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/text"
	"hippocampus/internal/wordvec"
)

// subjects are the persons and things that queries ask about. Two statements with different ones are both current:
// "Flat 3B pays 800 euros.", "Flat 3D now pays 880 euros."
type subjects struct {
	names  [][]uint64 // hashes of the lexemes of each name and code, without names of the user
	words  []rareWord
	labels [][]string // in Chinese; see label
	others bool       // the queries name others, such as a brother
}

// rareWord is an English word of a query.
type rareWord struct {
	hash uint64 // of its lexeme
	rank int    // see wordvec.Rank
}

// add adds the subjects of a query.
func (s *subjects) add(q subquery) {
	own := idNames(q.Owner)
	add := func(lexemes []string) {
		var hashes []uint64
		for _, lexeme := range lexemes {
			if !slices.Contains(own, lexeme) {
				hashes = append(hashes, xxhash.Sum64String(lexeme))
			}
		}
		if len(hashes) > 0 {
			s.names = append(s.names, hashes)
		}
	}
	for _, name := range namesIn(q.Text) {
		add(text.Lexemes(name))
	}
	for _, n := range numbersIn(q.Text) {
		if n.code {
			add(n.lexemes)
		}
	}
	for _, number := range lettered.FindAllString(q.Text, -1) {
		add(text.Lexemes(number))
	}
	s.labels = append(s.labels, label.FindAllStringSubmatch(q.Text, -1)...)
	s.others = s.others || change.IsOfOthers(q.Text, "")
	if asked.For(q.Text) == asked.Truth {
		return // it has words of its answer: "Do I live above a shop?"
	}
	for word := range strings.FieldsFuncSeq(q.Text, func(r rune) bool { return !isASCIIWord(r) }) {
		if lexemes := text.Lexemes(word); len(lexemes) == 1 && !slices.Contains(own, lexemes[0]) {
			s.words = append(s.words, rareWord{xxhash.Sum64String(lexemes[0]), wordvec.Rank(word, lexemes[0])})
		}
	}
}

// lettered matches the number of a flat or a seat, "3B".
var lettered = lazyregexp.New(`\b[0-9]+[A-Z]\b`)

func isASCIIWord(r rune) bool { return r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// differ reports whether a later statement is about another subject than an earlier one about a subject of the queries.
// The statements are given as hashes of their lexemes and as texts. "He", "it" and the like stand for what was named.
func (s *subjects) differ(earlier, later map[uint64]bool, before, said string) bool {
	return !refersBack.MatchString(said) &&
		(s.lacksName(earlier, later) || s.lacksRarest(earlier, later) || s.hasAnotherLabel(before, said) ||
			!s.others && ofOthers.MatchString(said) && !ofOthers.MatchString(before))
}

var refersBack = lazyregexp.New(`(?i)\b(?:he|him|his|she|hers?|they|them|their|it|its)\b|[他她它]`)

// ofOthers matches possessions of other people: "my wife's car".
var ofOthers = lazyregexp.New(`(?i)\b(?:my|our)\s+(?:[a-z]+\s+)?[a-z]+['’]s\b`)

// lacksName reports whether only the earlier of two statements has a name or a code of the queries.
func (s *subjects) lacksName(earlier, later map[uint64]bool) bool {
	return slices.ContainsFunc(s.names, func(name []uint64) bool {
		hasAll := func(said map[uint64]bool) bool {
			return !slices.ContainsFunc(name, func(lexeme uint64) bool { return !said[lexeme] })
		}
		return hasAll(earlier) && !hasAll(later)
	})
}

// rarer is by which factor a word is rarer than the others if it names a subject.
const rarer = 2

// lacksRarest reports whether a later statement lacks the rarest of the words that the queries and the earlier one have
// in common, but has others of them: "ramipril" in "How much ramipril do I take?", "dentist" in "the dentist's
// appointment". A later statement without any of them is only worded in another way.
func (s *subjects) lacksRarest(earlier, later map[uint64]bool) bool {
	var missing, kept int // the ranks of the rarest ones
	for _, w := range s.words {
		switch {
		case !earlier[w.hash]:
		case later[w.hash]:
			kept = max(kept, w.rank)
		default:
			missing = max(missing, w.rank)
		}
	}
	return kept > 0 && missing >= rarer*kept
}

// label matches labels of things and persons of one kind in Chinese: "301" in 301会议室, "A" in A项目, 张 in 小张.
// Its groups are the label and the kind, or the prefix and the name.
var label = lazyregexp.New(`([0-9A-Za-z]+)(\p{Han}{2})|([小老阿])(\p{Han})`)

// hasAnotherLabel reports whether the earlier of two statements has a label of the queries, and the later one another
// label of the same kind instead.
func (s *subjects) hasAnotherLabel(before, said string) bool {
	if len(s.labels) == 0 {
		return false
	}
	found := label.FindAllStringSubmatch(said, -1)
	return slices.ContainsFunc(s.labels, func(l []string) bool {
		return strings.Contains(before, l[0]) && !strings.Contains(said, l[0]) &&
			slices.ContainsFunc(found, func(f []string) bool { return cmp.Or(f[2], f[3]) == cmp.Or(l[2], l[3]) })
	})
}
