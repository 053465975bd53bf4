package grounding

import (
	"slices"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/lazyregexp"
)

// phrases is a set of words and phrases that are looked for in plain texts.
type phrases struct {
	latin map[string][][]string // the tokens of phrases, longest first, by the first token
	han   *lazyregexp.Regexp    // nil: there are no Han phrases
}

// phrasesOf returns the phrases of some lists of cues.txt.
func phrasesOf(lists ...string) phrases {
	p := phrases{latin: map[string][][]string{}}
	var han []string
	for _, list := range lists {
		for _, phrase := range cues[list] {
			if isHan(phrase) {
				han = append(han, phrase)
				continue
			}
			tokens := tokensOf(phrase)
			p.latin[tokens[0]] = append(p.latin[tokens[0]], tokens)
		}
	}
	if han != nil {
		p.han = anyOf(han)
	}
	for _, of := range p.latin {
		slices.SortFunc(of, func(a, b []string) int { return len(b) - len(a) })
	}
	return p
}

// anyOf matches any of some texts, the longest first.
func anyOf(texts []string) *lazyregexp.Regexp {
	slices.SortFunc(texts, func(a, b string) int { return len(b) - len(a) })
	return lazyregexp.New(strings.Join(texts, "|"))
}

// cut returns tokens and Han text without the phrases, and the number of phrases that it cut out. It puts instead in
// the place of a phrase of Han characters.
func (p phrases) cut(tokens []string, han, instead string) (restTokens []string, restHan string, count int) {
	for i := 0; i < len(tokens); {
		if n := p.at(tokens[i:]); n > 0 {
			count++
			i += n
			continue
		}
		restTokens = append(restTokens, tokens[i])
		i++
	}
	if p.han == nil || han == "" {
		return restTokens, han, count
	}
	restHan = p.han.ReplaceAllStringFunc(han, func(string) string {
		count++
		return instead
	})
	return restTokens, restHan, count
}

// has reports whether one of the phrases occurs.
func (p phrases) has(tokens []string, han string) bool {
	for i := range tokens {
		if p.at(tokens[i:]) > 0 {
			return true
		}
	}
	return p.han != nil && han != "" && p.han.MatchString(han)
}

// at returns the number of tokens of the phrase with which a text begins; 0: it does not begin with a phrase.
func (p phrases) at(tokens []string) int {
	for _, phrase := range p.latin[tokens[0]] {
		if len(phrase) <= len(tokens) && slices.Equal(phrase, tokens[:len(phrase)]) {
			return len(phrase)
		}
	}
	return 0
}

// tokensOf splits a plain text into its Latin words, with "n't" as a word. Other apostrophes divide words.
func tokensOf(said string) (tokens []string) {
	start := -1
	for i := 0; i <= len(said); {
		r, size := rune(0), 1
		if i < len(said) {
			r, size = utf8.DecodeRuneInString(said[i:])
		}
		isWord := 'a' <= r && r <= 'z' || r >= 0x80 && r < 0x250
		switch {
		case isWord && start < 0:
			start = i
		case !isWord && start >= 0:
			word := said[start:i]
			start = -1
			if r == '\'' && word[len(word)-1] == 'n' && strings.HasPrefix(said[i+1:], "t") {
				if len(word) > 1 {
					tokens = append(tokens, word[:len(word)-1])
				}
				tokens = append(tokens, "n't")
				size++ // the t
				break
			}
			tokens = append(tokens, word)
		}
		i += size
	}
	return tokens
}

// hanOf returns the Han characters of a text, each run after a space.
func hanOf(said string) string {
	var b strings.Builder
	inRun := false
	for _, r := range said {
		if r < 0x2e80 || !isHanRune(r) {
			inRun = false
			continue
		}
		if !inRun {
			b.WriteByte(' ')
			inRun = true
		}
		b.WriteRune(r)
	}
	return b.String()
}
