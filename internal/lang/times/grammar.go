package times

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

var (
	//go:embed english.txt
	english string
	//go:embed chinese.txt
	chinese string
)

// grammar is the content of the files of the languages.
type grammar struct {
	patterns *node
	classes  map[string]*node
	hints    map[string]bool // a text without any of these words and without a digit matches no pattern
	begins   map[string]bool // first words of patterns and of the words before them, other than numbers
}

// node is a state in matching a pattern or a member of a class.
type node struct {
	next  map[string]*node // by the next word
	holes []hole           // classes that may come next
	rule  *rule            // of the pattern that ends here; nil: no pattern ends here
}

// hole is a class in a pattern.
type hole struct {
	class string
	to    *node
}

// rule is the meaning of a pattern or of a member of a class.
type rule struct {
	name string
	args []string
	weak bool // it counts only after a member of the class "before"
}

// grammarOf returns the grammar, which is read once.
var grammarOf = sync.OnceValue(func() *grammar {
	g := &grammar{patterns: &node{}, classes: map[string]*node{}, hints: map[string]bool{}, begins: map[string]bool{}}
	for _, file := range []string{english, chinese} {
		if err := g.read(file); err != nil {
			panic(err) // the files are embedded
		}
	}
	common := g.classes["common"]
	for _, n := range append([]*node{g.patterns}, g.namers()...) {
		n.eachWord(func(word string) {
			if common.next[word] == nil {
				g.hints[word] = true
			}
		})
	}
	begin := []*node{g.patterns, g.classes["cut"], g.classes["number"], g.classes["ordinal"]}
	for _, h := range g.patterns.holes {
		if n := g.classes[h.class]; n != nil {
			begin = append(begin, n)
		}
	}
	for _, n := range begin {
		for word := range n.next {
			g.begins[word] = true
		}
	}
	for _, digit := range hanDigits + "零两十" {
		g.begins[string(digit)] = true
	}
	return g
})

// cues lists the classes whose members are in no pattern.
var cues = map[string]bool{
	"common": true, "before": true, "since": true, "until": true, "from": true, "to": true, "past": true, "ahead": true,
	"sinceafter": true, "untilafter": true, "cutafter": true, "habit": true, "number": true, "ordinal": true, "cut": true,
}

// namers returns the classes whose members are parts of patterns.
func (g *grammar) namers() (nodes []*node) {
	for class, n := range g.classes {
		if !cues[class] {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// read adds the lines of a file.
func (g *grammar) read(file string) error {
	for line := range strings.Lines(file) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		left, right, found := strings.Cut(line, " = ")
		meaning := ruleOf(right)
		if !found || meaning.name == "" {
			return fmt.Errorf("%q is no line of a language", line)
		}
		if class, ok := strings.CutPrefix(left, "@"); ok {
			class, members, _ := strings.Cut(class, " ")
			if g.classes[class] == nil {
				g.classes[class] = &node{}
			}
			for member := range strings.SplitSeq(members, " | ") {
				g.classes[class].add(elementsOf(member), meaning)
			}
			continue
		}
		for _, pattern := range expand(left) {
			g.patterns.add(elementsOf(pattern), meaning)
		}
	}
	return nil
}

// ruleOf reads the right side of a line.
func ruleOf(s string) *rule {
	fields := strings.Fields(s)
	r := &rule{name: fields[0]}
	for _, f := range fields[1:] {
		if f == "weak" {
			r.weak = true
		} else {
			r.args = append(r.args, f)
		}
	}
	return r
}

// expand returns a pattern with and without each optional part, [x], and with each alternative of a choice, (x|y).
func expand(pattern string) (list []string) {
	open := strings.IndexAny(pattern, "[(")
	if open < 0 {
		return []string{pattern}
	}
	closing := map[byte]string{'[': "]", '(': ")"}[pattern[open]]
	end := open + strings.Index(pattern[open:], closing)
	choices := strings.Split(pattern[open+1:end], "|")
	if closing == "]" {
		choices = append(choices, "")
	}
	for _, choice := range choices {
		list = append(list, expand(pattern[:open]+choice+pattern[end+1:])...)
	}
	return list
}

// elementsOf divides a pattern into words and classes, which keep their braces.
func elementsOf(pattern string) (list []string) {
	for pattern != "" {
		if strings.HasPrefix(pattern, "{") {
			class, rest, _ := strings.Cut(pattern, "}")
			list, pattern = append(list, class+"}"), rest
			continue
		}
		words := pattern
		if i := strings.IndexByte(pattern, '{'); i >= 0 {
			words = pattern[:i]
		}
		for _, t := range tokensOf(words) {
			list = append(list, t.word)
		}
		pattern = pattern[len(words):]
	}
	return list
}

func (n *node) add(elements []string, meaning *rule) {
	for _, e := range elements {
		if class, ok := strings.CutPrefix(e, "{"); ok {
			n = n.hole(strings.TrimSuffix(class, "}"))
			continue
		}
		if n.next == nil {
			n.next = map[string]*node{}
		}
		if n.next[e] == nil {
			n.next[e] = &node{}
		}
		n = n.next[e]
	}
	if n.rule == nil {
		n.rule = meaning
	}
}

func (n *node) hole(class string) *node {
	for _, h := range n.holes {
		if h.class == class {
			return h.to
		}
	}
	n.holes = append(n.holes, hole{class: class, to: &node{}})
	return n.holes[len(n.holes)-1].to
}

// eachWord calls f for each word of the patterns, but not for marks.
func (n *node) eachWord(f func(word string)) {
	for word, next := range n.next {
		if word[0] >= utf8.RuneSelf || isLetter(word[0]) {
			f(word)
		}
		next.eachWord(f)
	}
	for _, h := range n.holes {
		h.to.eachWord(f)
	}
}

// mayNameTime reports whether a text has a digit or a word of a pattern that few texts have.
func (g *grammar) mayNameTime(text string) bool {
	var lower [16]byte
	for at := 0; ; {
		start, wordEnd, end := next(text, at)
		at = end
		switch {
		case start == len(text):
			return false
		case isDigit(text[start]):
			return true
		case !isLetter(text[start]):
			if text[start] >= utf8.RuneSelf && g.hints[text[start:wordEnd]] {
				return true
			}
		case wordEnd-start <= len(lower):
			word := lower[:wordEnd-start]
			for i := range word {
				if word[i] = text[start+i]; 'A' <= word[i] && word[i] <= 'Z' {
					word[i] |= 0x20
				}
			}
			if g.hints[string(word)] {
				return true
			}
		}
	}
}
