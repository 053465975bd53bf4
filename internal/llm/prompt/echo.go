package prompt

import (
	"io/fs"
	"strings"
	"unicode"

	"hippocampus/internal/text"
)

// Echoes reports whether an answer is copied from the template, in whatever
// language: its lexemes, four or more, stand there in a row.
func (t Template) Echoes(answer string) bool {
	lexemes := text.Lexemes(answer)
	if len(lexemes) < leastEcho {
		return false
	}
	row := " " + text.Join(lexemes) + " "
	for _, file := range t.rows {
		if strings.Contains(file, row) {
			return true
		}
	}
	return false
}

// leastEcho is how many lexemes in a row are no coincidence.
const leastEcho = 4

// rows are the lexemes of a template's file, framed by separators so that
// whole lexemes are found in them.
func rows(files fs.FS, path string) string {
	file, err := fs.ReadFile(files, path)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return " " + text.Join(text.Lexemes(string(file))) + " "
}

// Foreign reports whether one of two texts is Chinese and the other holds none of it.
func Foreign(a, b string) bool {
	none := func(s string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
	}
	return text.IsChinese(a) && none(b) || text.IsChinese(b) && none(a)
}

// Wording is a text without its case, spaces and punctuation: what two answers
// that say the same share. Lexemes would drop too much: "not" is one of their
// stop words.
func Wording(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}
