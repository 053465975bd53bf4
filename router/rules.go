package router

import (
	"bufio"
	"bytes"
	"cmp"
	"embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// RulesName is the source of the routes of rules.
const RulesName = "rules"

//go:embed vocabulary/*.txt
var vocabularyFiles embed.FS

// routeByRules routes a query without a model: to the domains whose vocabulary the query shares, at most MaxDomains,
// those with the most words first; to general_chat alone if the query consists of small talk; to no domain if its words
// are in no vocabulary.
func routeByRules(query string) Route {
	if IsSmallTalk(query) {
		return Route{Domains: []memory.Domain{memory.GeneralChat}, Source: RulesName}
	}
	domains := rank(query, text.Lexemes(query))
	if len(domains) == 0 {
		return Route{Source: RulesName, Reason: "no domain stands out: all are searched"}
	}
	return Route{Domains: domains[:min(len(domains), MaxDomains)], Source: RulesName}
}

// term is an entry of a vocabulary.
type term struct {
	domain int // place in memory.Domains
	weight int // lexemes in it
}

// vocabulary finds the terms of all domains that have a vocabulary.
var vocabulary = sync.OnceValue(func() (v struct {
	terms   []term
	rows    map[string][]int // places of terms by their joined lexemes
	chars   map[rune][]int   // places of terms of a single Chinese character
	longest map[string]int   // number of lexemes of the longest term, by its first lexeme
}) {
	v.rows = map[string][]int{}
	v.chars = map[rune][]int{}
	v.longest = map[string]int{}
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
})

// smallTalk holds the phrases of small talk, in tokens.
var smallTalk = sync.OnceValue(func() [][]string {
	var phrases [][]string
	for _, line := range lines(string(memory.GeneralChat)) {
		phrases = append(phrases, tokens(line))
	}
	return phrases
})

// lines returns the entries of a vocabulary file: one entry a line, # for comments.
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

// rank lists the domains that share words with s, the best domain first; lexemes are those of s. A term counts once,
// however often it occurs.
func rank(s string, lexemes []string) []memory.Domain {
	known, score := vocabulary(), make([]int, len(memory.Domains))
	var counted []int
	count := func(places []int) {
		for _, n := range places {
			if !slices.Contains(counted, n) {
				counted = append(counted, n)
				score[known.terms[n].domain] += known.terms[n].weight
			}
		}
	}
	for _, r := range s {
		if r >= utf8.RuneSelf { // terms of a single character are Chinese
			count(known.chars[r])
		}
	}
	for i, first := range lexemes {
		for n := 1; n <= min(known.longest[first], len(lexemes)-i); n++ {
			count(known.rows[text.Join(lexemes[i:i+n])])
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

// IsSmallTalk reports whether s consists of phrases of small talk.
func IsSmallTalk(s string) bool {
	const longest = 40 // tokens; longer texts are no greetings
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
		for _, phrase := range smallTalk() {
			if end := i + len(phrase); end <= len(words) && slices.Equal(words[i:end], phrase) {
				reached[end] = true
			}
		}
	}
	return reached[len(words)] // also for emoji and punctuation alone
}

// tokens cuts s into lower-case words and single Han characters. Unlike lexemes
// they include stop words, since small talk consists of them.
func tokens(s string) []string {
	var list []string
	var word []byte
	end := func() {
		if len(word) > 0 {
			list, word = append(list, string(word)), word[:0]
		}
	}
	for _, r := range strings.ToLower(s) {
		switch {
		case unicode.Is(unicode.Han, r):
			end()
			list = append(list, string(r))
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			word = utf8.AppendRune(word, r)
		case r == '\'' || r == '’':
			// "how's" becomes the token "hows"
		default:
			end()
		}
	}
	end()
	return list
}
