// Package policy applies what an app says is remembered:
//
//	policy -> Compile -> Rules
//	message -> Rules.Never -> the sentences that are never kept, each with the rule that finds it
//	fact -> Rules.Judge -> refused, kept whatever its importance is, or left to the gate; its categories
//	app -> Service -> the Rules that serve, and versions
//
// The rules decide about what a model proposes, and about what rules propose, alike.
package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/scorer"
)

// Rules are a compiled policy. Its methods accept nil, which has no rules. It is safe for concurrent use.
type Rules struct {
	memory.PolicyVersion
	keep, never matcher
	categories  []matcher
}

// matcher finds terms and patterns.
type matcher struct {
	terms    []term
	patterns []*regexp.Regexp
}

// term is a word or phrase.
type term struct {
	lexemes string         // see sequence
	plain   *regexp.Regexp // instead, if it has no lexemes, such as a sign or "the"
}

// Compile returns the rules of a policy. KindInvalid: a field is wrong.
func Compile(v memory.PolicyVersion) (*Rules, error) {
	if err := v.Check().Err(); err != nil {
		return nil, err
	}
	r := Rules{PolicyVersion: v}
	for _, side := range []struct {
		rules memory.PolicyRules
		into  *matcher
	}{{v.Keep, &r.keep}, {v.Never, &r.never}} {
		side.into.addTerms(side.rules.Terms)
		for _, pattern := range side.rules.Patterns {
			side.into.patterns = append(side.into.patterns, regexp.MustCompile(pattern)) // Check has compiled it
		}
	}
	for _, c := range v.Categories {
		var m matcher
		m.addTerms(c.Terms)
		r.categories = append(r.categories, m)
	}
	return &r, nil
}

func (m *matcher) addTerms(terms []string) {
	for _, words := range terms {
		t := term{lexemes: sequence(words)}
		if t.lexemes == separated {
			t.plain = regexp.MustCompile(`(?i)` + boundary(words, false) + regexp.QuoteMeta(words) + boundary(words, true))
		}
		m.terms = append(m.terms, t)
	}
}

// boundary is the pattern of what stands before or after a word, nothing for a sign.
func boundary(word string, after bool) string {
	side, _ := utf8.DecodeRuneInString(word)
	if after {
		side, _ = utf8.DecodeLastRuneInString(word)
	}
	if !unicode.IsLetter(side) && !unicode.IsDigit(side) {
		return ""
	}
	return `(?:^|$|[^\pL\pN])`
}

// separated is the sequence of a text without lexemes.
const separated = " "

// sequence returns the lexemes of a text between spaces, so that a phrase is found as a part of a sentence.
func sequence(s string) string {
	if lexemes := text.Lexemes(s); len(lexemes) > 0 {
		return separated + text.Join(lexemes) + separated
	}
	return separated
}

// Found is a part of a message that is never kept.
type Found struct {
	Text string // a sentence, or several
	Rule string // that finds it, such as never.terms[2]
}

// Never returns the sentences of a message that the terms and patterns of the policy never keep, in their order. A
// sentence that several rules find is returned once.
func (r *Rules) Never(message string) (found []Found) {
	if r == nil || len(r.never.terms)+len(r.never.patterns) == 0 || message == "" {
		return nil
	}
	matches := make([][]int, 0, len(r.never.patterns))
	rules := make([]string, 0, len(r.never.patterns))
	for i, p := range r.never.patterns {
		for _, match := range p.FindAllStringIndex(message, -1) {
			matches, rules = append(matches, match), append(rules, neverPattern(i))
		}
	}
	at := 0
	for _, sentence := range text.Sentences(message) {
		end := at + len(sentence)
		rule := r.never.term("never", sentence)
		for i, match := range matches {
			if rule == "" && match[0] < end && max(match[1], match[0]+1) > at {
				rule = rules[i]
			}
		}
		if said := strings.TrimSpace(sentence); rule != "" && said != "" {
			found = append(found, Found{Text: said, Rule: rule})
		}
		at = end
	}
	return found
}

func neverPattern(i int) string { return fmt.Sprintf("never.patterns[%d]", i) }

// term returns the rule of the first term that a text has; "" without one.
func (m matcher) term(side, s string) string {
	if len(m.terms) == 0 {
		return ""
	}
	lexemes := sequence(s)
	i := slices.IndexFunc(m.terms, func(t term) bool {
		if t.plain != nil {
			return t.plain.MatchString(s)
		}
		return strings.Contains(lexemes, t.lexemes)
	})
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("%s.terms[%d]", side, i)
}

// match returns the rule of the first term or pattern that matches a text; "" without one.
func (m matcher) match(side, s string) string {
	if rule := m.term(side, s); rule != "" {
		return rule
	}
	i := slices.IndexFunc(m.patterns, func(p *regexp.Regexp) bool { return p.MatchString(s) })
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("%s.patterns[%d]", side, i)
}

// Judgement is what a policy says of a fact.
type Judgement struct {
	Never   string // the rule that never keeps it; may be empty, as the others
	Keeps   string // the rule that keeps it whatever its importance is
	Unasked string // the rule that asks for other facts alone
}

// Judge applies the policy to a fact.
func (r *Rules) Judge(f scorer.Fact) (j Judgement) {
	if r == nil {
		return j
	}
	if i := slices.Index(r.PolicyVersion.Never.Types, f.Type); i >= 0 {
		j.Never = fmt.Sprintf("never.types[%d]", i)
	} else if i := slices.Index(r.PolicyVersion.Never.Domains, f.Domain); i >= 0 {
		j.Never = fmt.Sprintf("never.domains[%d]", i)
	} else {
		j.Never = r.never.match("never", f.Content)
	}
	if j.Never != "" {
		return j
	}
	types, domains := r.Keep.Types, r.Keep.Domains
	switch j.Keeps = r.keep.match("keep", f.Content); {
	case j.Keeps != "":
	case types != nil && !slices.Contains(types, f.Type):
		j.Unasked = "keep.types"
	case domains != nil && !slices.Contains(domains, f.Domain):
		j.Unasked = "keep.domains"
	}
	return j
}

// NeverKeeps returns the rule by which terms and patterns never keep a text; "" without one.
func (r *Rules) NeverKeeps(s string) string {
	if r == nil {
		return ""
	}
	return r.never.match("never", s)
}

// Categories returns the names of the categories of a text: the named one, if the policy has it, and those whose terms
// the text has.
func (r *Rules) Categories(named, s string) (names []string) {
	if r == nil {
		return nil
	}
	for i, c := range r.PolicyVersion.Categories {
		if c.Name == named || r.categories[i].term("", s) != "" {
			names = append(names, c.Name)
		}
	}
	return names[:min(len(names), memory.MaxTags)]
}

// AsksModel reports whether the policy lets a model find what is never kept.
func (r *Rules) AsksModel() bool { return r != nil && r.PolicyVersion.Never.Instructions != "" }

// HasNever reports whether the policy says what is never kept.
func (r *Rules) HasNever() bool { return r != nil && !r.PolicyVersion.Never.IsZero() }

// Version returns the number of the policy; 0 without one.
func (r *Rules) Version() int {
	if r == nil {
		return 0
	}
	return r.Number
}

// Policy returns what the policy says; nil if it says nothing.
func (r *Rules) Policy() *memory.Policy {
	if r == nil || r.IsZero() {
		return nil
	}
	return &r.PolicyVersion.Policy
}
