package site

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// searched is a page in the index: its address, title, and the texts of its headings, from which site.js makes their
// ids.
type searched struct {
	Path     string   `json:"p"`
	Title    string   `json:"t"`
	Language string   `json:"l"`
	Headings []string `json:"h"`
}

// beginning is how many characters of a word are in the index.
const beginning = 6

var (
	word = regexp.MustCompile(`[a-z][a-z_]{2,}`)
	han  = regexp.MustCompile(`\p{Han}{2,}`)
)

// searchIndex returns {"pages": [...], "words": {word: [page, ...]}}, where a page is the difference of its index from
// that of the page before. Words that many pages have are left out, and so are the words of decisions, which are found
// by their headings.
func searchIndex(pages map[string]*page, navigation map[string][]section) ([]byte, error) {
	byPath := map[string]*page{}
	for _, p := range pages {
		byPath[p.path] = p
	}
	listed := []searched{}
	places := map[string][]int{}
	for _, language := range slices.Sorted(maps.Keys(navigation)) {
		for _, e := range flat(navigation[language]) {
			p := byPath[e.Path]
			s := searched{Path: p.path, Title: e.Title, Language: language, Headings: []string{}}
			for _, h := range p.headings {
				if h.Level > 1 {
					s.Headings = append(s.Headings, h.Text)
				}
			}
			if !strings.HasPrefix(p.name, "decisions/") {
				for w := range wordsOf(p) {
					places[w] = append(places[w], len(listed))
				}
			}
			listed = append(listed, s)
		}
	}
	words := map[string][]int{}
	for w, on := range places {
		if len(on)*10 > len(listed) {
			continue
		}
		for i, n := range on {
			if i > 0 {
				n -= on[i-1]
			}
			words[w] = append(words[w], n)
		}
	}
	index, err := json.Marshal(map[string]any{"pages": listed, "words": words})
	if err != nil {
		return nil, fmt.Errorf("making the index of the search: %w", err)
	}
	return index, nil
}

// wordsOf returns the beginnings of the words of a page in lower case, and pairs of Chinese characters. It leaves out
// blocks of code.
func wordsOf(p *page) map[string]bool {
	words := map[string]bool{}
	for node := range descendants(p.document) {
		if node.Type() != ast.TypeBlock || node.HasChildren() && node.FirstChild().Type() == ast.TypeBlock {
			continue
		}
		text := strings.ToLower(textOf(node, p.source))
		for _, w := range word.FindAllString(text, -1) {
			words[w[:min(len(w), beginning)]] = true
		}
		for _, run := range han.FindAllString(text, -1) {
			characters := []rune(run)
			for i := range len(characters) - 1 {
				words[string(characters[i:i+2])] = true
			}
		}
	}
	return words
}
