package router

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"embed"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// RulesName is the name of the router that needs no model.
const RulesName = "rules"

//go:embed vocabulary/*.txt
var vocabularyFiles embed.FS

// NewRules is the router that needs no model. A query goes to the domains
// whose vocabulary it shares, at most MaxDomains, those with most words first;
// to general_chat alone when it is made of small talk and nothing else; to no
// named domain, which means all, when no word is known.
func NewRules() Router { return rules{} }

type rules struct{}

func (rules) Name() string { return RulesName }

func (rules) Route(_ context.Context, query string) ([]memory.Domain, error) {
	if isSmallTalk(query) {
		return []memory.Domain{memory.GeneralChat}, nil
	}
	domains := rank(query)
	return domains[:min(len(domains), MaxDomains)], nil
}

// Guess is the domain whose vocabulary a memory's content shares most;
// general_chat when it shares none.
func Guess(content string) memory.Domain {
	if domains := rank(content); len(domains) > 0 {
		return domains[0]
	}
	return memory.GeneralChat
}

// term is an entry of a vocabulary.
type term struct {
	row    string // its lexemes in the stored form, between separators
	char   string // instead, where the entry is a single CJK character
	weight int    // lexemes in it
}

// vocabulary holds the terms of each domain that has a vocabulary.
var vocabulary = func() map[memory.Domain][]term {
	all := map[memory.Domain][]term{}
	for _, d := range memory.Domains {
		if d == memory.GeneralChat {
			continue
		}
		for _, line := range lines(string(d)) {
			t := term{row: frame(line), weight: len(text.Lexemes(line))}
			if r, size := utf8.DecodeRuneInString(line); size == len(line) && unicode.Is(unicode.Han, r) {
				t.char = line
			}
			if t.weight == 0 {
				panic("the vocabulary of " + string(d) + " holds " + line + ", which has no lexeme")
			}
			all[d] = append(all[d], t)
		}
	}
	return all
}()

// smallTalk holds the phrases of which small talk is made, in tokens.
var smallTalk = func() [][]string {
	var phrases [][]string
	for _, line := range lines(string(memory.GeneralChat)) {
		phrases = append(phrases, tokens(line))
	}
	return phrases
}()

// lines reads a vocabulary file: one entry a line, # for comments.
func lines(name string) []string {
	file, err := vocabularyFiles.ReadFile("vocabulary/" + name + ".txt")
	if err != nil {
		panic(err) // the file is embedded
	}
	var entries []string
	for scanner := bufio.NewScanner(bytes.NewReader(file)); scanner.Scan(); {
		if line := strings.TrimSpace(scanner.Text()); line != "" && line[0] != '#' {
			entries = append(entries, line)
		}
	}
	return entries
}

func frame(s string) string { return " " + text.Join(text.Lexemes(s)) + " " }

// rank lists the domains that share words with s, best first.
func rank(s string) []memory.Domain {
	row := frame(s)
	score := map[memory.Domain]int{}
	var found []memory.Domain
	for _, d := range memory.Domains {
		for _, t := range vocabulary[d] {
			if t.char != "" && strings.Contains(s, t.char) || strings.Contains(row, t.row) {
				score[d] += t.weight
			}
		}
		if score[d] > 0 {
			found = append(found, d)
		}
	}
	slices.SortStableFunc(found, func(a, b memory.Domain) int { return cmp.Compare(score[b], score[a]) })
	return found
}

// isSmallTalk reports whether s is nothing but phrases of small talk in a row.
func isSmallTalk(s string) bool {
	const longest = 40 // tokens; nobody greets at greater length
	words := tokens(s)
	if len(words) > longest {
		return false
	}
	reached := make([]bool, len(words)+1) // reached[i]: the first i tokens are phrases
	reached[0] = true
	for i := range words {
		if !reached[i] {
			continue
		}
		for _, phrase := range smallTalk {
			if end := i + len(phrase); end <= len(words) && slices.Equal(words[i:end], phrase) {
				reached[end] = true
			}
		}
	}
	return reached[len(words)] // emoji and punctuation alone are small talk too
}

// tokens cuts s into lower-case words and single Han characters. Unlike
// lexemes they keep every word, since small talk is made of stop words.
func tokens(s string) []string {
	var list []string
	inWord := false
	for _, r := range strings.ToLower(s) {
		switch {
		case unicode.Is(unicode.Han, r):
			list, inWord = append(list, string(r)), false
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if inWord {
				list[len(list)-1] += string(r)
			} else {
				list, inWord = append(list, string(r)), true
			}
		case r == '\'' || r == '’':
			// "how's" is one token, written hows
		default:
			inWord = false
		}
	}
	return list
}
