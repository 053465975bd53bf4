package recall

import (
	"slices"
	"strings"
	"unicode"

	"hippocampus/internal/lang/function"
	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/llm"
	"hippocampus/internal/text"
)

// In a language that the embedding model does not know, all texts are similar, or only texts with the same words. A
// query then fits by its words alone: one that has an answer covers more than about a fifth of its words.
const (
	closenessWithoutWords = -1.5
	closenessPerCoverage  = 6
)

// isByWords reports whether the model of a vector does not know the language of a query.
func (s *Service) isByWords(q Query, vector queryVector) bool {
	return vector.embedder != nil && s.set.Calibration != nil &&
		s.set.Calibration(llm.SpaceOf(vector.embedder)).Bilingual && function.IsForeign(q.Text)
}

// unsegmented are the scripts without spaces whose sentences the built-in models take for single words.
var unsegmented = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// settingsFor returns the settings for fusing the candidates of a query. In these scripts a similarity is 0 or chance,
// so that the words decide alone.
func (s *Service) settingsFor(q Query, vector queryVector) *Settings {
	isUnsegmented := strings.ContainsFunc(q.Text, func(r rune) bool { return unicode.In(r, unsegmented...) })
	if !isUnsegmented || !s.isByWords(q, vector) {
		return &s.set
	}
	set := s.set
	set.Words = 1
	return &set
}

// closenessOfWords takes the place of the similarity, on the same scale.
func closenessOfWords(coverage float64) float64 {
	return min(1, closenessWithoutWords+closenessPerCoverage*coverage)
}

// article matches the Arabic article at the beginning of a word, with the conjunctions and prepositions before it.
var article = lazyregexp.New(`^[وف]?(?:[بك]?ال|لل)`)

// pairedWords are the words of a query that are compared by pairs of characters: the lexemes of each, in order.
type pairedWords [][]string

// wordsInPairs returns the words of a query in Thai, Korean, Hebrew, Arabic and scripts like these. Thai has no spaces:
// a word is what stands between function words. Han characters and kana are not included, since a pair of them is often
// a word itself.
func wordsInPairs(q *subquery) (words pairedWords) {
	if isASCII(q.Text) {
		return nil
	}
	for word := range strings.FieldsFuncSeq(function.Without(q.Text), notInPairs) {
		if lexemes := text.Lexemes(article.ReplaceAllString(word, "")); len(lexemes) > 1 {
			words = append(words, lexemes)
		}
	}
	return words
}

func notInPairs(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || !unicode.IsMark(r) && !text.IsPaired(r)
}

// longestRun is how many pairs of characters in a row suffice for a word of any length.
const longestRun = 3

// leastRun returns how many neighbouring pairs of a word a text must have in a row to count as having the word: most of
// them, or half of them in Arabic and Korean, where much of a short word is its ending. A single pair suffices in
// Korean, whose pairs of syllables are rare.
func leastRun(pairs []string) int {
	least, half := len(pairs)/2+1, (len(pairs)+1)/2
	switch {
	case isOf(unicode.Hangul, pairs[0]):
		least = half
	case isOf(unicode.Arabic, pairs[0]):
		least = max(2, half)
	}
	return min(longestRun, least)
}

func isOf(script *unicode.RangeTable, s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(script, r) })
}

// scattered returns the pairs that a text has by chance: fewer in a row than leastRun.
func (words pairedWords) scattered(has func(term string) bool) map[string]bool {
	var scattered, together map[string]bool
	mark := func(set *map[string]bool, pairs []string) {
		for _, pair := range pairs {
			if *set == nil {
				*set = map[string]bool{}
			}
			(*set)[pair] = true
		}
	}
	for _, pairs := range words {
		least := leastRun(pairs)
		if isTiled(pairs, has) {
			least = 1
		}
		for start := 0; start < len(pairs); start++ {
			end := start
			for end < len(pairs) && has(pairs[end]) {
				end++
			}
			if end-start >= least {
				mark(&together, pairs[start:end])
			} else {
				mark(&scattered, pairs[start:end])
			}
			start = end
		}
	}
	for pair := range together {
		delete(scattered, pair)
	}
	return scattered
}

// isTiled reports whether the pairs that a text has contain every character of a word. The word is then probably
// several short ones, written without spaces, that are apart in the text.
func isTiled(pairs []string, has func(term string) bool) bool {
	missing := true // before the first pair
	for _, pair := range append(slices.Clone(pairs), "") {
		isMissing := pair == "" || !has(pair)
		if missing && isMissing {
			return false
		}
		missing = isMissing
	}
	return true
}
