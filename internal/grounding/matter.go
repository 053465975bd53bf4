package grounding

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/text"
)

// matter is the evidence of some lines, and what follows from it.
type matter struct{ Evidence }

// matterOf reads a line.
func matterOf(source Source) *matter {
	m := &matter{readOne(source)}
	m.reckon(source)
	return m
}

// matterOfAll returns the matter of several lines.
func matterOfAll(lines []*matter) *matter {
	read := make([]Evidence, len(lines))
	for i, line := range lines {
		read[i] = line.Evidence
	}
	all := &matter{merged(read)}
	all.count = 0 // lines are not a list of facts: a number up to theirs is no count
	return all
}

// inventedOfUser is Invented, and also finds the name with which a fact begins, and Chinese names by the words around
// them.
func (m *matter) inventedOfUser(fact string) []string {
	invented := slices.DeleteFunc(m.Invented(fact), m.hasStems)
	if name := openingName(fact); name != "" && !m.isForeign(fact) && !m.name(name) && !m.hasStems(name) {
		invented = append(invented, name)
	}
	for _, name := range placedNamesIn(fact, afterName) {
		if !slices.Contains(invented, name) && !m.contains(startOf(name)) {
			invented = append(invented, name)
		}
	}
	return invented
}

// hasStems reports whether a word is Latin, and the lines have words with its stem.
func (m *matter) hasStems(word string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	lexemes := text.Lexemes(word)
	return unicode.Is(unicode.Latin, first) && len(lexemes) == 1 && m.lexemes[lexemes[0]]
}

// saidOnlyIn returns what of a fact more lines say and m does not: the quoted terms, or "it" for most of the fact, that
// is, for so many words at least. It returns "" if m says the fact, or more lacks a term of it too.
func (m *matter) saidOnlyIn(more *matter, fact string, least int) string {
	if missing := m.missing(fact); len(missing) > 0 && len(more.missing(fact)) == 0 {
		return quoted(missing)
	}
	own, others := 0, 0
	for _, l := range content(fact) {
		switch {
		case m.lexemes[l]:
			own++
		case more.lexemes[l]:
			others++
		}
	}
	if others >= least && others > 2*own {
		return "it"
	}
	return ""
}

// isUnrelated reports whether a fact has no word of any line. It is false for a fact in another language than the
// user's.
func (t *Talk) isUnrelated(fact string) bool {
	words := content(fact)
	isChinese := text.IsChinese(fact)
	sameLanguage := slices.ContainsFunc(t.own.texts, func(said string) bool {
		return text.IsChinese(said) == isChinese && len(text.Lexemes(said)) > 1
	})
	return sameLanguage && len(words) >= 3 && !slices.ContainsFunc(words, func(l string) bool { return t.all.lexemes[l] })
}

// aboutAssistant reports whether a fact is about the assistant. Such a fact may be drawn from the assistant's words.
func aboutAssistant(fact string) bool {
	said := plain(fact)
	return slices.ContainsFunc(cues["assistant"], func(w string) bool {
		rest, ok := strings.CutPrefix(said, w)
		return ok && (rest == "" || w[0] >= 0x80 || strings.IndexByte(" ,.'", rest[0]) >= 0)
	})
}
