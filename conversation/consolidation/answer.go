package consolidation

import (
	"encoding/json"
	"fmt"
	"strings"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/facts"
)

// The bounds of a deep reflection's answer.
const (
	maxFacts     = 20
	maxInsights  = 10
	maxLasting   = 10 // statements of each other kind
	maxTextRunes = 500
)

// levels are the importances of insights.
var levels = map[string]float64{"high": 1, "medium": 0.7, "low": 0.4}

// findings are a checked answer.
type findings struct {
	facts    []fact
	memories []statement
}

type fact struct {
	kind, key  string
	value      json.RawMessage
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
		Facts       *[]factReply    `json:"facts"`
		Insights    *[]insightReply `json:"insights"`
		Preferences *[]textReply    `json:"preferences"`
		Patterns    *[]textReply    `json:"patterns"`
		Projects    *[]textReply    `json:"projects"`
		Skills      *[]textReply    `json:"skills"`
	}
	factReply struct {
		Type       *string         `json:"type"`
		Key        *string         `json:"key"`
		Value      json.RawMessage `json:"value"`
		Confidence *float64        `json:"confidence"`
	}
	insightReply struct {
		Text  *string `json:"text"`
		Level *string `json:"level"`
	}
	textReply struct {
		Text       *string  `json:"text"`
		Importance *float64 `json:"importance"`
	}
)

// parseDeep reads an answer about the events of sample. It refuses the whole
// answer if any part of it is wrong (KindBadAnswer).
func parseDeep(answer, sample string) (found findings, err error) {
	var reply deepReply
	if err := llm.Decode(answer, &reply); err != nil {
		return found, err
	}
	if reply.Facts == nil || reply.Insights == nil {
		return found, llm.BadAnswer("the answer has no facts or no insights field")
	}
	if n := len(*reply.Facts); n > maxFacts {
		return found, llm.BadAnswer("the answer has %d facts: at most %d are allowed", n, maxFacts)
	}
	for i, f := range *reply.Facts {
		one, why := f.check()
		if why != "" {
			return found, llm.BadAnswer("facts[%d] %s", i, why)
		}
		found.facts = append(found.facts, one)
	}
	insights := make([]textReply, len(*reply.Insights))
	for i, in := range *reply.Insights {
		if in.Level == nil || levels[*in.Level] == 0 {
			return found, llm.BadAnswer("insights[%d] has no level of high, medium and low", i)
		}
		importance := levels[*in.Level]
		insights[i] = textReply{Text: in.Text, Importance: &importance}
	}
	for _, list := range []struct {
		field string
		kind  memory.Type
		items *[]textReply
		limit int
	}{
		{field: "insights", kind: "insight", items: &insights, limit: maxInsights},
		{field: "preferences", kind: "preference", items: reply.Preferences, limit: maxLasting},
		{field: "patterns", kind: "pattern", items: reply.Patterns, limit: maxLasting},
		{field: "projects", kind: "project", items: reply.Projects, limit: maxLasting},
		{field: "skills", kind: "skill", items: reply.Skills, limit: maxLasting},
	} {
		if list.items == nil {
			return found, llm.BadAnswer("the answer has no %s field", list.field)
		}
		if n := len(*list.items); n > list.limit {
			return found, llm.BadAnswer("the answer has %d %s: at most %d are allowed", n, list.field, list.limit)
		}
		for i, item := range *list.items {
			one, why := item.check(list.kind, sample)
			if why != "" {
				return found, llm.BadAnswer("%s[%d] %s", list.field, i, why)
			}
			found.memories = append(found.memories, one)
		}
	}
	return found, nil
}

// check returns the fact, or what is wrong with it.
func (f factReply) check() (one fact, why string) {
	switch {
	case f.Type == nil || f.Key == nil || f.Confidence == nil:
		return one, "lacks its type, key or confidence"
	case len(f.Value) == 0 || string(f.Value) == "null":
		return one, "has no value"
	case !(*f.Confidence >= 0 && *f.Confidence <= 1):
		return one, fmt.Sprintf("has a confidence of %v, which is not between 0 and 1", *f.Confidence)
	}
	if why := facts.CheckName(*f.Type); why != "" {
		return one, "has a type that " + why
	}
	if why := facts.CheckName(*f.Key); why != "" {
		return one, "has a key that " + why
	}
	value, err := facts.CanonicalValue(f.Value)
	if err != nil {
		return one, "has a value that " + err.Error()
	}
	if blank(value) {
		return one, fmt.Sprintf("has an empty value %.40q", value)
	}
	if deepPrompt.Echoes(string(value)) {
		return one, "repeats the prompt's own words"
	}
	return fact{kind: *f.Type, key: *f.Key, value: value, confidence: *f.Confidence}, ""
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
func (t textReply) check(kind memory.Type, sample string) (one statement, why string) {
	if t.Text == nil || t.Importance == nil {
		return one, "lacks its text or importance"
	}
	if !(*t.Importance >= 0 && *t.Importance <= 1) {
		return one, fmt.Sprintf("has an importance of %v, which is not between 0 and 1", *t.Importance)
	}
	one = statement{kind: kind, text: strings.TrimSpace(*t.Text), importance: *t.Importance}
	return one, deepPrompt.Check(one.text, maxTextRunes, sample)
}
