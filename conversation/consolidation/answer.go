package consolidation

import (
	"encoding/json"
	"fmt"
	"strings"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/facts"
)

// The bounds of an answer about what lasts.
const (
	maxFacts     = 20
	maxInsights  = 10
	maxLasting   = 10 // of each kind
	maxTextRunes = 500
)

// levels are the importances of insights.
var levels = map[string]float64{"high": 1, "medium": 0.7, "low": 0.4}

// findings are an answer that passed every check.
type findings struct {
	facts    []fact
	memories []lasting
}

type fact struct {
	kind, key  string
	value      json.RawMessage
	confidence float64
}

// lasting is what becomes a memory.
type lasting struct {
	kind       memory.Type
	text       string
	importance float64
}

// The answer as the model writes it; nil: left out, or null.
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

// parseDeep reads what lasts of what sample says, and refuses the answer whole
// where anything in it is wrong (KindBadAnswer).
func parseDeep(answer, sample string) (found findings, err error) {
	var reply deepReply
	if err := llm.Decode(answer, &reply); err != nil {
		return found, err
	}
	if reply.Facts == nil || reply.Insights == nil {
		return found, refuse("the answer has no facts or no insights field")
	}
	if n := len(*reply.Facts); n > maxFacts {
		return found, refuse("the answer has %d facts: at most %d are allowed", n, maxFacts)
	}
	if n := len(*reply.Insights); n > maxInsights {
		return found, refuse("the answer has %d insights: at most %d are allowed", n, maxInsights)
	}
	for i, f := range *reply.Facts {
		one, why := f.check()
		if why != "" {
			return found, refuse("facts[%d] %s", i, why)
		}
		found.facts = append(found.facts, one)
	}
	for i, in := range *reply.Insights {
		if in.Level == nil || levels[*in.Level] == 0 {
			return found, refuse("insights[%d] has no level of high, medium and low", i)
		}
		importance := levels[*in.Level]
		if err := found.add("insights", i, "insight", textReply{in.Text, &importance}, sample); err != nil {
			return found, err
		}
	}
	for _, list := range []struct {
		name  string
		kind  memory.Type
		items *[]textReply
	}{
		{"preferences", "preference", reply.Preferences}, {"patterns", "pattern", reply.Patterns},
		{"projects", "project", reply.Projects}, {"skills", "skill", reply.Skills},
	} {
		if list.items == nil {
			return found, refuse("the answer has no %s field", list.name)
		}
		if n := len(*list.items); n > maxLasting {
			return found, refuse("the answer has %d %s: at most %d are allowed", n, list.name, maxLasting)
		}
		for i, item := range *list.items {
			if err := found.add(list.name, i, list.kind, item, sample); err != nil {
				return found, err
			}
		}
	}
	return found, nil
}

// check says what is wrong with a fact, "" for nothing.
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
		return one, "has an empty value " + show(value)
	}
	if deepPrompt.Echoes(string(value)) {
		return one, "repeats the prompt's own words"
	}
	return fact{*f.Type, *f.Key, value, *f.Confidence}, ""
}

// blank reports whether a value says nothing.
func blank(value json.RawMessage) bool {
	switch string(value) {
	case `""`, `[]`, `{}`:
		return true
	}
	var s string
	return json.Unmarshal(value, &s) == nil && strings.TrimSpace(s) == ""
}

// add checks a statement and takes it.
func (f *findings) add(list string, i int, kind memory.Type, item textReply, sample string) error {
	if item.Text == nil || item.Importance == nil {
		return refuse("%s[%d] lacks its text or importance", list, i)
	}
	statement := strings.TrimSpace(*item.Text)
	why := memory.CheckContent(statement, maxTextRunes)
	switch {
	case why != "":
	case !(*item.Importance >= 0 && *item.Importance <= 1):
		why = fmt.Sprintf("has an importance of %v, which is not between 0 and 1", *item.Importance)
	case deepPrompt.Echoes(statement):
		why = "repeats the prompt's own words"
	case prompt.Foreign(statement, sample):
		why = "is in another language than the conversation"
	}
	if why != "" {
		return refuse("%s[%d] %s", list, i, why)
	}
	f.memories = append(f.memories, lasting{kind, statement, *item.Importance})
	return nil
}
