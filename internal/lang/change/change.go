// Package change reads whether a text reports that something about its author has changed:
//
//	text -> expressions of cues.txt -> Cues{Strong: 2, Weak: 1}     "Sold the house, we're in Sligo for good now."
//
// It knows English, German and Chinese. It does not find out what has changed.
package change

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"hippocampus/internal/text"
)

// Cues are numbers of different expressions in a text, each 0..Most: Strong counts those that report a change by
// themselves, Weak those that other texts have too.
type Cues struct{ Strong, Weak int }

// Most is the number up to which expressions are counted.
const Most = 2

//go:embed cues.txt
var file string

// strength of an expression.
type strength int

const (
	weak strength = iota
	strong
	others // not of a change, but of a person or a thing
)

var strengths = map[string]strength{"weak": weak, "strong": strong, "others": others}

type cue struct {
	expression string
	strength   strength
}

type lexicon struct {
	english map[string]cue
	longest int // of english, in words
	chinese []cue
}

var load = sync.OnceValue(func() lexicon {
	l := lexicon{english: map[string]cue{}}
	for line := range strings.Lines(file) {
		heading, list, isList := strings.Cut(line, "|")
		if !isList || strings.HasPrefix(line, "#") {
			continue
		}
		name, language, _ := strings.Cut(strings.TrimSpace(heading), " ")
		s, known := strengths[name]
		switch {
		case known && (language == "en" || language == "de"):
			for expression := range strings.SplitSeq(list, ",") {
				expression = strings.TrimSpace(expression)
				l.english[expression] = cue{expression, s}
				l.longest = max(l.longest, len(strings.Fields(expression)))
			}
		case known && language == "zh":
			for expression := range strings.FieldsSeq(list) {
				l.chinese = append(l.chinese, cue{expression, s})
			}
		default:
			panic("cues.txt has an unknown list: " + heading)
		}
	}
	return l
})

// Of returns the cues of a text. Chinese texts are read for Chinese expressions, all others for English and German
// ones.
func Of(said string) (cues Cues) {
	for _, found := range read(said) {
		switch found.strength {
		case strong:
			cues.Strong = min(Most, cues.Strong+1)
		case weak:
			cues.Weak = min(Most, cues.Weak+1)
		}
	}
	return cues
}

// IsOfOthers reports whether a text names a person or a place, such as a brother or a shop, that an earlier text does
// not name. The names are the cues of strength others.
func IsOfOthers(said, earlier string) bool {
	before := read(earlier)
	return slices.ContainsFunc(read(said), func(found cue) bool {
		return found.strength == others && !slices.Contains(before, found)
	})
}

// read returns the expressions in a text, each once.
func read(said string) []cue {
	said = strings.ToLower(said)
	if text.IsChinese(said) {
		return readChinese(said)
	}
	return readEnglish(said)
}

func readEnglish(said string) (list []cue) {
	l := load()
	words := strings.FieldsFunc(strings.ReplaceAll(said, "’", "'"), func(r rune) bool {
		return !unicode.IsLetter(r) && r != '\''
	})
	for i := range words {
		for n := 1; n <= l.longest && i+n <= len(words); n++ {
			found, known := l.english[strings.Join(words[i:i+n], " ")]
			if known && !slices.Contains(list, found) {
				list = append(list, found)
			}
		}
	}
	return list
}

// changedState is the particle 了 at the end of a clause, which says that a state is new.
var changedState = cue{"了", weak}

func readChinese(said string) (list []cue) {
	for _, known := range load().chinese {
		if strings.Contains(said, known.expression) {
			list = append(list, known)
		}
	}
	for clause := range strings.FieldsFuncSeq(said, unicode.IsPunct) {
		if strings.HasSuffix(strings.TrimSpace(clause), changedState.expression) {
			return append(list, changedState)
		}
	}
	return list
}
