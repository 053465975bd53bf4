package judge

import (
	_ "embed"
	"slices"
	"strings"
	"unicode"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/text"
)

// joiningFile holds the words that a merged text may add.
//
//go:embed joining.txt
var joiningFile string

// joining are the lexemes of Latin words, and the Han characters, that a merged text may add.
var joining = func() map[string]bool {
	words := map[string]bool{}
	for line := range strings.Lines(joiningFile) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, word := range strings.Fields(line) {
			words[word] = true
			for _, lexeme := range text.Lexemes(word) {
				words[lexeme] = true
			}
		}
	}
	return words
}()

// mostAdded is the most addedWords that a merged text may have, since another wording may need one.
const mostAdded = 1

// addedWords returns the Latin words, as lexemes, and the Han characters that a merged text has and the texts that it
// merges lack, each once. It leaves out digits and the words of joining.txt. Another form of a word, such as "flies"
// for "flight", does not count as added.
func addedWords(merged, texts string) (added []string) {
	lexemes := text.Lexemes(texts)
	add := func(word string) {
		if !joining[word] && !slices.Contains(added, word) {
			added = append(added, word)
		}
	}
	for _, word := range text.Lexemes(merged) {
		first := []rune(word)[0]
		if !unicode.Is(unicode.Han, first) && !unicode.IsDigit(first) &&
			!slices.ContainsFunc(lexemes, func(l string) bool { return sameRoot(word, l) }) {
			add(word)
		}
	}
	for _, r := range merged {
		if unicode.Is(unicode.Han, r) && !strings.ContainsRune(texts, r) {
			add(string(r))
		}
	}
	return added
}

// item matches a word that joins another thing to a statement, and that thing.
var item = lazyregexp.New(`\b(?:and|or|in|at|on|with|from|of|for|to|by|has|twice)` +
	`(?: (?:an?|the|his|her|their|my))? (\p{L}+)`)

// isItem reports whether one of the added words of a merged text is another thing, as in "and cheese" and "in winter".
func isItem(merged string, added []string) bool {
	for _, match := range item.FindAllStringSubmatch(strings.ToLower(merged), -1) {
		for _, lexeme := range text.Lexemes(match[1]) {
			if slices.Contains(added, lexeme) {
				return true
			}
		}
	}
	return false
}

// sameRoot reports whether two lexemes begin with the same four bytes, or one begins with the other, of at least three.
func sameRoot(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) >= 3 && strings.HasPrefix(b, a[:min(len(a), 4)])
}
