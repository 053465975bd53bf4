package statement

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/lang/function"
	"hippocampus/internal/text"
	"hippocampus/internal/wordvec"
)

//go:embed frequent.txt
var frequentWords string

// frequent holds the words of two characters that many Chinese texts share.
var frequent = sync.OnceValue(func() words {
	w := words{}
	for word := range strings.FieldsSeq(frequentWords) {
		w[word] = true
	}
	return w
})

// rareRank is the rank from which an English word is rare: see wordvec.Rank.
const rareRank = 3000

// marksIn returns the lexemes that show what a text is about: rare English words, words of other languages that are no
// function words, and pairs of Chinese characters except for frequent words.
func marksIn(content string) words {
	marks := words{}
	for word := range strings.FieldsFuncSeq(withoutUser(content), notLetter) {
		if first, _ := utf8.DecodeRuneInString(word); unicode.Is(unicode.Han, first) {
			for _, lexeme := range text.Lexemes(word) {
				if utf8.RuneCountInString(lexeme) == 2 && !frequent()[lexeme] {
					marks[lexeme] = true
				}
			}
			continue
		}
		lexemes := text.Lexemes(word)
		if first := word[0]; first >= utf8.RuneSelf || len(lexemes) != 1 || function.Is(word) {
			continue
		}
		if wordvec.Rank(word, lexemes[0]) >= rareRank {
			marks[lexemes[0]] = true
		}
	}
	return marks
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }
