package secret

import (
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hippocampus/internal/lazyregexp"
)

//go:embed gitleaks.tsv
var gitleaks string

//go:embed prefixes.tsv
var prefixes string

// rule finds tokens of one kind by their form.
type rule struct {
	kind       string
	entropy    float64  // least bits a character
	keywords   []string // in lower case; every text with such a token has one
	expression *lazyregexp.Regexp
}

var rules = sync.OnceValue(func() *ruleSet {
	return indexRules(append(parse(gitleaks, mostEntropy), parse(prefixes, 8)...))
})

// ruleSet finds the rules whose keywords are in a text, in one pass.
type ruleSet struct {
	rules []rule
	by    [256][]keyword // by the first byte
}

type keyword struct {
	text string
	rule int
}

func indexRules(rules []rule) *ruleSet {
	s := &ruleSet{rules: rules}
	for i, r := range rules {
		for _, text := range r.keywords {
			s.by[text[0]] = append(s.by[text[0]], keyword{text, i})
		}
	}
	return s
}

// in returns the rules with a keyword in a text in lower case.
func (s *ruleSet) in(lower string) (found []*rule) {
	for i := range len(lower) {
		list := s.by[lower[i]]
		for n := range list {
			if k := &list[n]; strings.HasPrefix(lower[i:], k.text) && !slices.Contains(found, &s.rules[k.rule]) {
				found = append(found, &s.rules[k.rule])
			}
		}
	}
	return found
}

// mostEntropy is less than gitleaks requires of tokens, since in code examples such as ghp_xxxx are common.
const mostEntropy = 1.5

// anyEnd is the end of gitleaks' expressions. A token in a sentence need not end so: "it is TOKEN, or TOKEN."
const anyEnd = "(?:[\\x60'\"\\s;]|\\\\[nr]|$)"

// parse reads the lines of a table of rules. Its expressions are compiled when a text has one of their keywords. The
// least entropy of a rule is lowered to most.
func parse(table string, most float64) (list []rule) {
	for line := range strings.Lines(table) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		entropy, err := strconv.ParseFloat(fields[1], 64)
		if err != nil || len(fields) != 4 {
			panic("package secret: bad rule " + line)
		}
		source := fields[3]
		if strings.HasSuffix(source, anyEnd) {
			source = strings.TrimSuffix(source, anyEnd) + `(?:[^A-Za-z0-9]|$)`
		}
		list = append(list, rule{
			kind: fields[0], entropy: min(entropy, most), keywords: strings.Fields(fields[2]),
			expression: lazyregexp.New(source),
		})
	}
	return list
}

// prefixed finds tokens by their prefixes and structure. lower is the text in lower case.
func prefixed(text, lower string) (spans []span) {
	for _, r := range rules().in(lower) {
		for _, match := range r.expression.FindAllStringSubmatchIndex(text, -1) {
			start, end := match[0], match[1]
			if len(match) > 2 && match[2] >= 0 {
				start, end = match[2], match[3]
			}
			if value := text[start:end]; entropy(value) >= r.entropy && isNoExample(value) {
				spans = append(spans, span{start, end, r.kind})
			}
		}
	}
	return spans
}

func hasAny(text string, words []string) bool {
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

var (
	blockBegin = lazyregexp.New(`-{5}BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-{5}`)
	blockEnd   = lazyregexp.New(`-{5}END[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-{5}`)
	// blockBody matches the visible part of a block's body if the end of the block is missing.
	blockBody = lazyregexp.New(`^(?:\s|\\[nr]|[A-Za-z0-9+/=]{16,})*`)
)

// blocks finds private keys, from their first line to their last, or to the end of the visible part.
func blocks(text string) (spans []span) {
	if !strings.Contains(text, "-----BEGIN") {
		return nil
	}
	for at := 0; ; {
		begin := blockBegin.FindStringIndex(text[at:])
		if begin == nil {
			return spans
		}
		start, end := at+begin[0], at+begin[1]
		body := len(strings.TrimRight(blockBody.FindString(text[end:]), " \r\n\t"))
		if last := blockEnd.FindStringIndex(text[end:]); last != nil {
			body = last[1]
		}
		if body >= shortestToken { // else the text only mentions the first line
			spans = append(spans, span{start, end + body, PrivateKey})
		}
		at = end + body
	}
}

// entropy is the entropy of a value's bytes, in bits a byte: 0 to 8.
func entropy(value string) (bits float64) {
	var counts [256]float64
	for i := range len(value) {
		counts[value[i]]++
	}
	for _, n := range counts {
		if n > 0 {
			p := n / float64(len(value))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
