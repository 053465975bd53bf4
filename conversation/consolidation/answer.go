package consolidation

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/knowledge/facts"
)

// The bounds of a deep reflection's answer.
const (
	maxFacts     = 20
	maxInsights  = 10
	maxLasting   = 10 // statements of each kind other than facts and insights
	maxTextRunes = 500
)

// levels are the importances of insights.
var levels = map[string]float64{"high": 1, "medium": 0.7, "low": 0.4}

// The importance and confidence of a finding that has no own number.
const (
	defaultImportance = 0.7
	defaultConfidence = 0.5
)

// findings are a checked answer.
type findings struct {
	facts    []fact
	memories []statement
	leftOut  []string // the items that were refused, with the reasons
}

type fact struct {
	kind, key  string
	value      json.RawMessage
	sentence   string
	importance *float64 // importance of the memory if the fact is certain; nil: that of its kind
	confidence float64
}

// statement is a finding that becomes a memory.
type statement struct {
	kind       memory.Type
	text       string
	importance float64
}

// The answer as the model writes it. A nil field was missing or null.
type (
	deepReply struct {
		Facts       llm.Items[factReply]      `json:"facts"`
		Insights    llm.Items[statementReply] `json:"insights"`
		Preferences llm.Items[statementReply] `json:"preferences"`
		Patterns    llm.Items[statementReply] `json:"patterns"`
		Projects    llm.Items[statementReply] `json:"projects"`
		Skills      llm.Items[statementReply] `json:"skills"`
	}
	factReply struct {
		Who        string          `json:"who"`
		Type       string          `json:"type"`
		Key        string          `json:"key"`
		Value      json.RawMessage `json:"value"`
		Text       string          `json:"text"`
		Importance *float64        `json:"importance"`
		Confidence *float64        `json:"confidence"`
	}
	statementReply struct {
		Text       string   `json:"text"`
		Level      *string  `json:"level"` // of an insight
		Importance *float64 `json:"importance"`
	}
)

// parseDeep reads an answer about a conversation. A bad item is left out, and the others are read. KindBadAnswer: the
// answer has no list of the six, or only bad items.
func parseDeep(answer *llm.Answer, about talk) (found findings, err error) {
	var reply deepReply
	if err := answer.Decode(&reply); err != nil {
		return found, err
	}
	lists := []struct {
		field string
		kind  memory.Type
		items llm.Items[statementReply]
		limit int
	}{
		{field: "insights", kind: "insight", items: reply.Insights, limit: maxInsights},
		{field: "preferences", kind: "preference", items: reply.Preferences, limit: maxLasting},
		{field: "patterns", kind: "pattern", items: reply.Patterns, limit: maxLasting},
		{field: "projects", kind: "project", items: reply.Projects, limit: maxLasting},
		{field: "skills", kind: "skill", items: reply.Skills, limit: maxLasting},
	}
	empty := reply.Facts == nil
	refuse := func(field string, i int, why error) {
		found.leftOut = append(found.leftOut, fmt.Sprintf("%s[%d] %v", field, i, why))
	}
	for i, item := range reply.Facts {
		if i >= maxFacts {
			refuse("facts", i, fmt.Errorf("is over the limit of %d", maxFacts))
			continue
		}
		one, err := item.Value.check(about)
		if err = firstOf(item.Err, err); err != nil {
			refuse("facts", i, err)
			continue
		}
		found.facts = append(found.facts, one)
	}
	for _, list := range lists {
		empty = empty && list.items == nil
		for i, item := range list.items {
			if i >= list.limit {
				refuse(list.field, i, fmt.Errorf("is over the limit of %d", list.limit))
				continue
			}
			one, err := item.Value.check(list.kind, about)
			if err = firstOf(item.Err, err); err != nil {
				refuse(list.field, i, err)
				continue
			}
			found.memories = append(found.memories, one)
		}
	}
	if empty {
		return found, llm.BadAnswer("the answer has none of the lists facts, insights, preferences, patterns, " +
			"projects, skills")
	}
	if len(found.facts)+len(found.memories) == 0 && len(found.leftOut) > 0 {
		return found, llm.BadAnswer("%s", strings.Join(found.leftOut, "; "))
	}
	for _, why := range found.leftOut {
		answer.Salvage("%s", why)
	}
	return found, nil
}

// firstOf returns the first error that is not nil.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// check returns the fact, or what is wrong with it.
func (f factReply) check(about talk) (one fact, err error) {
	one = fact{
		kind: f.Type, sentence: strings.TrimSpace(f.Text), importance: f.Importance, confidence: defaultConfidence,
	}
	if one.key, err = f.keyOf(about.speakers); err != nil {
		return one, err
	}
	var rated float64
	if err := firstOf(share01(f.Importance, &rated), share01(f.Confidence, &one.confidence)); err != nil {
		return one, fmt.Errorf("has an importance or confidence that %w", err)
	}
	for _, name := range []string{one.kind, one.key} {
		if why := facts.CheckName(name); why != "" {
			return one, fmt.Errorf("has a type or key that %s", why)
		}
	}
	value, err := facts.CanonicalValue(f.Value)
	switch {
	case len(f.Value) == 0 || string(f.Value) == "null":
		return one, errors.New("has no value")
	case err != nil:
		return one, fmt.Errorf("has a value that %w", err)
	case blank(value):
		return one, fmt.Errorf("has an empty value %.40q", value)
	}
	one.value = json.RawMessage(text.StripControls(string(value)))
	words := strings.TrimPrefix(facts.Content("", one.value), ": ")
	switch {
	case one.sentence == "" && about.speakers != nil:
		return one, errors.New("has no text")
	case one.sentence == "":
		one.sentence = facts.Sentence(facts.CanonicalName(one.kind), facts.CanonicalName(one.key), one.value)
	}
	for _, said := range []string{words, one.sentence} {
		why := deepPrompt.Check(said, memory.MaxContentRunes, "")
		if why == "" {
			why = about.has.Why(said)
		}
		if why != "" {
			return one, errors.New(why)
		}
	}
	return one, about.said(one.sentence)
}

// importanceAs returns the importance of the memory of a fact in a domain.
func (f fact) importanceAs(domain memory.Domain) float64 {
	return facts.Evidence{Sentence: f.sentence, Importance: f.importance, Confidence: f.confidence}.ImportanceAs(domain)
}

// keyOf returns the key of a fact, which begins with the name of its subject if several users speak.
func (f factReply) keyOf(speakers []string) (string, error) {
	if speakers == nil {
		return f.Key, nil
	}
	for _, name := range speakers {
		prefix := facts.CanonicalName(name) + "_"
		switch {
		case strings.HasPrefix(facts.CanonicalName(f.Key), prefix):
			return f.Key, nil
		case strings.EqualFold(strings.TrimSpace(f.Who), name):
			return prefix + f.Key, nil
		}
	}
	return "", fmt.Errorf("does not name in who one of %s", strings.Join(speakers, ", "))
}

// share01 sets a number if it was given. Its error says that the number is not between 0 and 1.
func share01(given *float64, into *float64) error {
	if given == nil {
		return nil
	}
	*into = *given
	if !(*given >= 0 && *given <= 1) {
		return fmt.Errorf("is %v, not between 0 and 1", *given)
	}
	return nil
}

// blank reports whether a value is empty.
func blank(value json.RawMessage) bool {
	switch string(value) {
	case `""`, `[]`, `{}`:
		return true
	}
	var s string
	return json.Unmarshal(value, &s) == nil && strings.TrimSpace(s) == ""
}

// check returns the statement, or what is wrong with it.
func (s statementReply) check(kind memory.Type, about talk) (one statement, err error) {
	one = statement{kind: kind, text: strings.TrimSpace(s.Text), importance: defaultImportance}
	if s.Level != nil {
		level, known := levels[strings.ToLower(strings.TrimSpace(*s.Level))]
		one.importance = level
		if !known {
			return one, fmt.Errorf("has the level %.20q, not high, medium or low", *s.Level)
		}
	}
	if err := share01(s.Importance, &one.importance); err != nil {
		return one, fmt.Errorf("has an importance that %w", err)
	}
	why := deepPrompt.Check(one.text, maxTextRunes, about.sample)
	if why == "" {
		why = about.has.Why(one.text)
	}
	if why != "" {
		return one, errors.New(why)
	}
	if kind == "preference" { // memories of other kinds may also be drawn from what the assistant says and does
		return one, about.said(one.text)
	}
	if opposite := about.account.Opposes(one.text); opposite != "" {
		return one, errors.New(opposite)
	}
	return one, nil
}
