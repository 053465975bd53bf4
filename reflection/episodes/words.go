package episodes

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/lang/function"
	"hippocampus/internal/text"
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
