package scorer

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/memory"
	"hippocampus/internal/secret"
	"hippocampus/scorer/attribute"
	"hippocampus/scorer/request"
	"hippocampus/scorer/statement"
)

// RulesName is the name of the rule-based scorer.
const RulesName = "rules"

const (
	maxReadRunes     = 100_000 // of the user's words in a turn
	maxSentenceRunes = 600     // longer ones are pasted text, not statements
)

// NewRules returns a scorer that needs no language model. It reads the user's messages
// sentence by sentence:
//
//	message  -> spans of another voice, such as a quote (package voice): an excerpt of each, with its Voice
//	sentence -> a question throughout: nothing
//	         -> a standing request: a preference (package request)
//	         -> probability of a statement about the user, and its domain (package statement)
//	              at least likely:    fact, in the user's words, with the importance of its kind; one fact of each
//	                                  clause, if the clauses state attributes by themselves (package attribute)
//	              at least unlikely:  fact with an importance under the gate's default threshold
//	              else:               nothing
//	answer of up to two words, without "I": the same, with an importance under the gate's default threshold
//
// A dated plan, such as a flight, expires at the end of its day. It resolves neither pronouns nor dates. It reads the
// first 100,000 characters of a turn, and sentences of up to 600.
func NewRules() Scorer { return rules{} }

type rules struct{}

func (rules) Name() string { return RulesName }

func (rules) Score(ctx context.Context, turn memory.Turn, before []memory.Message) ([]Fact, error) {
	r := reader{ctx: ctx, room: maxReadRunes, seen: map[string]bool{}}
	for i, m := range turn.Messages {
		if m.Role != memory.RoleUser || r.isDone() {
			continue
		}
		known := len(r.facts)
		if err := r.readMessage(m.Content); err != nil {
			return nil, err
		}
		for n := known; n < len(r.facts); n++ {
			r.facts[n].ExpiresAt = planEnd(r.facts[n].Content, turn.Local(turn.SaidAt(i)))
		}
		if isFragment(m, memory.LastSpoken(slices.Concat(before, turn.Messages[:i]))) {
			weaken(r.facts[known:])
		}
	}
	return append(r.facts, r.others[:min(len(r.others), MaxFacts-len(r.facts))]...), nil
}

// Probabilities of a statement about the user.
const (
	likely   = 0.5
	unlikely = 0.02
)

// read returns the statement of a sentence: one fact, or one of each clause if each is a likely statement by itself.
func read(said string) []Fact {
	plain := apostrophes.Replace(said)
	if question.MatchString(plain) {
		cut := questionTail.FindStringIndex(plain)
		if cut == nil {
			return nil
		}
		plain = strings.TrimSpace(plain[:cut[0]])
		said = string([]rune(said)[:utf8.RuneCountInString(plain)]) // plain has the same number of runes
	}
	said = strings.TrimRight(said, " ;,:；，：、")
	if memory.CheckContent(said, memory.MaxContentRunes) != "" {
		return nil
	}
	fact, probability := factOf(said, plain)
	switch {
	case strings.Contains(plain, secret.Mark): // what was worth remembering was cut out
		fact.Importance = weak
	case command.MatchString(plain):
		fact.Type, _ = kindOf(plain, fact.Domain)
		fact.Importance = vital
	case probability >= likely:
		if clauses := clausesOf(said); clauses != nil {
			return clauses
		}
	case probability < unlikely:
		return nil
	}
	return []Fact{fact}
}

// factOf returns a sentence as a fact, and the probability that it is a statement about the user. A sentence counts as
// a statement, whatever its other words are, if it claims an attribute of the user, such as the home, states a like,
// says that something has ended, or is a standing request.
func factOf(said, plain string) (Fact, float64) {
	reading := statement.Read(plain)
	if !reading.Known {
		reading.Statement = 0
	}
	if attribute.ClaimsOwn(plain) || attribute.ChangeOf(plain).IsOwn() {
		reading.Statement = max(reading.Statement, likely)
	}
	if request.IsStanding(plain) {
		fact := Fact{Content: said, Domain: memory.Preferences, Type: aPreference, Importance: strong}
		return fact, max(reading.Statement, likely)
	}
	fact := Fact{Content: said, Domain: reading.Domain, Type: aRemark, Importance: weak}
	if reading.Statement >= likely {
		fact.Type, fact.Importance = kindOf(plain, reading.Domain)
	}
	return fact, reading.Statement
}

// clausesOf returns a fact of each clause of a statement about attributes of the user, such as the home, so that a
// later home replaces no other attribute; nil if the statement has to stay whole.
func clausesOf(said string) (facts []Fact) {
	clauses := attribute.Clauses(said)
	if len(clauses) == 1 {
		return nil
	}
	for _, clause := range clauses {
		fact, probability := factOf(clause, apostrophes.Replace(clause))
		if probability < likely {
			return nil
		}
		facts = append(facts, fact)
	}
	return facts
}

// sentences cuts a message at line ends and after sentence marks, but not within a quotation. A full stop
// ends a sentence only before a space, and not after an abbreviation.
func sentences(message string) []string {
	var list []string
	chars := []rune(message)
	start, quoted := 0, false
	flush := func(end int) {
		sentence := strings.TrimFunc(string(chars[start:end]), func(r rune) bool {
			return unicode.IsSpace(r) || strings.ContainsRune("-*•>#", r)
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
			quoted = false
		case r == '"':
			quoted = !quoted
		case r == '“' || r == '「':
			quoted = true
		case r == '”' || r == '」':
			quoted = false
		case quoted:
		case strings.ContainsRune("。！？；…", r) && !strings.ContainsRune("。！？；…”」", next):
			flush(i + 1)
		case strings.ContainsRune("!?;", r) && !strings.ContainsRune("!?", next):
			flush(i + 1)
		case r == '.' && unicode.IsSpace(next):
			if end := chars[max(start, i-longestAbbreviation) : i+1]; !abbreviation.MatchString(string(end)) {
				flush(i + 1)
			}
		}
	}
	flush(len(chars))
	return list
}

// longestAbbreviation is longer than any abbreviation with the character before it, so that the matched text does not
// grow with the sentence.
const longestAbbreviation = 8

var abbreviation = lazyregexp.New(
	`(?i)(?:^|[\s(])(?:dr|mr|mrs|ms|prof|st|jr|sr|vs|etc|e\.g|i\.e|a\.m|p\.m|no|[a-z])\.$`)
