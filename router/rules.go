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
	domains := rank(query, text.Lexemes(query))
	return domains[:min(len(domains), MaxDomains)], nil
}

// Guess is the domain whose vocabulary a memory's content shares most;
// general_chat when it shares none.
func Guess(content string) memory.Domain { return GuessBy(content, text.Lexemes(content)) }

// GuessBy is Guess where the lexemes of the content are known.
func GuessBy(content string, lexemes []string) memory.Domain {
	if domains := rank(content, lexemes); len(domains) > 0 {
		return domains[0]
	}
	return memory.GeneralChat
}

// term is an entry of a vocabulary.
type term struct {
	domain int // place in memory.Domains
	weight int // lexemes in it
}

// vocabulary finds the terms of all domains that have a vocabulary.
var vocabulary = func() (v struct {
	terms   []term
	rows    map[string][]int // places of terms by their lexemes in the stored form
	chars   map[rune][]int   // by the CJK character, where an entry is a single one
	longest map[string]int   // lexemes of a term, by the first one
}) {
	v.rows, v.chars, v.longest = map[string][]int{}, map[rune][]int{}, map[string]int{}
	for i, d := range memory.Domains {
		if d == memory.GeneralChat {
			continue
		}
		for _, line := range lines(string(d)) {
			lexemes, n := text.Lexemes(line), len(v.terms)
			if len(lexemes) == 0 {
				panic("the vocabulary of " + string(d) + " holds " + line + ", which has no lexeme")
			}
			if r, size := utf8.DecodeRuneInString(line); size == len(line) && unicode.Is(unicode.Han, r) {
				v.chars[r] = append(v.chars[r], n)
			}
			row := text.Join(lexemes)
			v.rows[row] = append(v.rows[row], n)
			v.terms = append(v.terms, term{i, len(lexemes)})
			v.longest[lexemes[0]] = max(v.longest[lexemes[0]], len(lexemes))
		}
	}
	return v
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

// rank lists the domains that share words with s, which has these lexemes, best
// first. A term counts once, however often it is said.
func rank(s string, lexemes []string) []memory.Domain {
	score := make([]int, len(memory.Domains))
	var counted []int
	count := func(places []int) {
		for _, n := range places {
			if !slices.Contains(counted, n) {
				counted = append(counted, n)
				score[vocabulary.terms[n].domain] += vocabulary.terms[n].weight
			}
		}
	}
	for _, r := range s {
		if r >= utf8.RuneSelf { // single characters are of Chinese
			count(vocabulary.chars[r])
		}
	}
	for i, first := range lexemes {
		for n := 1; n <= min(vocabulary.longest[first], len(lexemes)-i); n++ {
			count(vocabulary.rows[text.Join(lexemes[i:i+n])])
		}
	}
	var found []int
	for i := range score {
		if score[i] > 0 {
			found = append(found, i)
		}
	}
	slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	domains := make([]memory.Domain, len(found))
	for i, place := range found {
		domains[i] = memory.Domains[place]
	}
	return domains
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
