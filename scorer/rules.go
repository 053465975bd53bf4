package scorer

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// RulesName is the name of the rule-based scorer.
const RulesName = "rules"

const (
	maxReadRunes     = 100_000 // of the user's words in a turn
	maxSentenceRunes = 600     // longer ones are pasted text, not statements
)

// NewRules returns a scorer that needs no model. It reads the user's messages
// sentence by sentence:
//
//	sentence -> refused (question, request, hypothesis, filler, secret)
//	         -> pattern of a statement about the user -> fact, in the user's words
//
// It knows the statements that the tables of English and Chinese patterns
// list, and resolves neither pronouns nor dates. It reads the first 100,000
// characters of a turn, and sentences of up to 600.
func NewRules() Scorer { return rules{} }

type rules struct{}

func (rules) Name() string { return RulesName }

func (rules) Score(ctx context.Context, turn memory.Turn) ([]Fact, error) {
	var facts []Fact
	seen := map[string]bool{}
	room := maxReadRunes
	for _, m := range turn.Messages {
		if m.Role != "user" {
			continue
		}
		for _, sentence := range sentences(m.Content) {
			length := utf8.RuneCountInString(sentence)
			if room -= length; room < 0 {
				return facts, nil
			}
			if err := ctx.Err(); err != nil {
				return nil, memory.Errorf(memory.KindUnavailable, "score a turn by rules: %w", err)
			}
			if length > maxSentenceRunes {
				continue
			}
			fact, ok := judge(sentence)
			if !ok || seen[fact.Content] {
				continue
			}
			seen[fact.Content] = true
			if facts = append(facts, fact); len(facts) == MaxFacts {
				return facts, nil
			}
		}
	}
	return facts, nil
}

// language holds the rules for one language.
type language struct {
	refuse   []string // sentences without a statement about the user
	question string   // sentences that ask
	command  string   // "remember that ...": what follows is kept, unless it is a secret
	secret   string   // words of statements that must not be stored
	tail     string   // a question that follows a statement after a comma
	patterns []pattern

	refused    []expression
	questioned expression
	commanded  expression
	secretive  expression
	tailed     expression
}

// pattern recognises one kind of statement about the user.
type pattern struct {
	says       string // regular expression; upper and lower case are the same
	unless     string // veto; may be empty
	domain     memory.Domain
	kind       memory.Type
	importance float64

	matches, vetoes expression
}

// Importances of the recognised statements. The gate's default threshold is 0.7.
const (
	vital  = 0.9
	strong = 0.8
	firm   = 0.7
	weak   = 0.4
)

// The kinds of statement that the rules distinguish.
const (
	aFact       = memory.TypeFact
	aPreference = memory.Type("preference")
	aSkill      = memory.Type("skill")
	aProject    = memory.Type("project")
	aTask       = memory.Type("task")
	aDecision   = memory.Type("decision")
	aRemark     = memory.Type("observation")
)

func compile(l language) *language {
	for _, refuse := range l.refuse {
		l.refused = append(l.refused, newExpression(refuse))
	}
	l.questioned, l.commanded, l.tailed = newExpression(l.question), newExpression(l.command), newExpression(l.tail)
	l.secretive = newExpression(l.secret)
	for i := range l.patterns {
		p := &l.patterns[i]
		p.matches = newExpression(p.says)
		if p.unless != "" {
			p.vetoes = newExpression(p.unless)
		}
	}
	return &l
}

// Patterns write the plain apostrophe.
var apostrophes = strings.NewReplacer("’", "'", "‘", "'", "`", "'")

// judge returns the most important statement of a sentence.
func judge(said string) (Fact, bool) {
	l := english
	if text.IsChinese(said) {
		l = chinese
	}
	plain := newSentence(apostrophes.Replace(said))
	best := Fact{Content: said}
	if l.secretive.in(plain) {
		return Fact{}, false
	}
	questioned := l.questioned.in(plain)
	if !questioned && l.commanded.in(plain) {
		best.Importance, best.Domain, best.Type = vital, memory.Preferences, aFact
		if p := l.best(plain); p != nil {
			best.Domain, best.Type = p.domain, p.kind
		}
		return best, memory.CheckContent(said, memory.MaxContentRunes) == ""
	}
	if questioned {
		cut := l.tailed.FindStringIndex(plain.text)
		if cut == nil {
			return Fact{}, false
		}
		plain = newSentence(strings.TrimSpace(plain.text[:cut[0]]))
		best.Content = string([]rune(said)[:utf8.RuneCountInString(plain.text)]) // plain has the same number of runes
		if l.questioned.in(plain) {
			return Fact{}, false
		}
	}
	if slices.ContainsFunc(l.refused, func(e expression) bool { return e.in(plain) }) ||
		memory.CheckContent(best.Content, memory.MaxContentRunes) != "" {
		return Fact{}, false
	}
	p := l.best(plain)
	if p == nil {
		return Fact{}, false
	}
	best.Importance, best.Domain, best.Type = p.importance, p.domain, p.kind
	return best, true
}

// best returns the most important pattern that matches, the first of several.
func (l *language) best(plain *sentence) *pattern {
	var best *pattern
	for i := range l.patterns {
		p := &l.patterns[i]
		if (best == nil || p.importance > best.importance) && p.matches.in(plain) &&
			(p.unless == "" || !p.vetoes.in(plain)) {
			best = p
		}
	}
	return best
}

// sentences cuts a message at line ends and after sentence marks. A full stop
// ends a sentence only before a space, and not after an abbreviation.
func sentences(message string) []string {
	var list []string
	chars := []rune(message)
	start := 0
	flush := func(end int) {
		sentence := strings.TrimFunc(string(chars[start:end]), func(r rune) bool {
			return unicode.IsSpace(r) || strings.ContainsRune("-*•>#\"“”「」", r)
		})
		if sentence != "" {
			list = append(list, sentence)
		}
		start = end
	}
	for i, r := range chars {
		next := ' '
		if i+1 < len(chars) {
			next = chars[i+1]
		}
		switch {
		case r == '\n' || r == '\r':
			flush(i)
		case strings.ContainsRune("。！？；…", r) && !strings.ContainsRune("。！？；…”」", next):
			flush(i + 1)
		case strings.ContainsRune("!?;", r) && !strings.ContainsRune("!?", next):
			flush(i + 1)
		case r == '.' && unicode.IsSpace(next) && !abbreviation.MatchString(string(chars[start:i+1])):
			flush(i + 1)
		}
	}
	flush(len(chars))
	return list
}

var abbreviation = regexp.MustCompile(
	`(?i)(?:^|[\s(])(?:dr|mr|mrs|ms|prof|st|jr|sr|vs|etc|e\.g|i\.e|a\.m|p\.m|no|[a-z])\.$`)
