package prompt

import (
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"hippocampus/internal/text"
)

// Echoes reports whether an answer is copied from a file of the template: it has at
// least minEcho lexemes, which occur in the file in the same sequence.
func (t Template) Echoes(answer string) bool {
	lexemes := text.Lexemes(answer)
	if len(lexemes) < minEcho {
		return false
	}
	sequence := " " + text.Join(lexemes) + " "
	return slices.ContainsFunc(t.lexemes, func(file string) bool { return strings.Contains(file, sequence) })
}

// minEcho is the length of a sequence of lexemes that is no coincidence.
const minEcho = 4

// lexemesOf joins the lexemes of a file, with a separator at both ends so that a
// search finds whole lexemes only.
func lexemesOf(files fs.FS, path string) string {
	file, err := fs.ReadFile(files, path)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return " " + text.Join(text.Lexemes(string(file))) + " "
}

// Foreign reports whether one of two texts is Chinese and the other has no Han character.
func Foreign(a, b string) bool {
	hasHan := func(s string) bool {
		return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
	}
	return text.IsChinese(a) && !hasHan(b) || text.IsChinese(b) && !hasHan(a)
}

// Wording is a text without its case, spaces and punctuation. It is equal for two
// answers with the same words; lexemes would also be equal for different words.
func Wording(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}
