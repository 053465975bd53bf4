package llmtest

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// maxRuleFacts of one turn.
const maxRuleFacts = 3

// factsOf returns the facts of a turn: what its users state of themselves.
func factsOf(lines []line) []Fact {
	facts := []Fact{}
	for _, l := range lines {
		if l.Role != "user" || l.Before {
			continue
		}
		for _, sentence := range text.Sentences(l.Content) {
			if isStatement(sentence) && len(facts) < maxRuleFacts {
				content := inThirdPerson(strings.TrimSpace(sentence), l.Name)
				facts = append(facts, Fact{
					Fact: content, Importance: importanceOf(sentence), Domain: domainsOf(sentence)[0], Type: memory.TypeFact,
				})
			}
		}
	}
	return facts
}

// thirdPerson replaces words of the first person; "@" stands for the user.
var thirdPerson = []struct {
	words *regexp.Regexp
	with  string
}{
	{regexp.MustCompile(`\bI[’']m\b`), "@ is"}, {regexp.MustCompile(`\bI am\b`), "@ is"},
	{regexp.MustCompile(`\bI[’']ve\b`), "@ has"}, {regexp.MustCompile(`\bI have\b`), "@ has"},
	{regexp.MustCompile(`\bI\b`), "@"}, {regexp.MustCompile(`\b[Mm]y\b`), "@'s"},
	{regexp.MustCompile(`我的?`), "@"},
}

// inThirdPerson rewrites a sentence of the user. name is the user's name, or empty.
func inThirdPerson(sentence, name string) string {
	if name == "" {
		name = "the user"
		if text.IsChinese(sentence) {
			name = "用户"
		}
	}
	for _, one := range thirdPerson {
		sentence = one.words.ReplaceAllString(sentence, one.with)
	}
	return capital(strings.ReplaceAll(sentence, "@", name))
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

var (
	lasting = regexp.MustCompile(
		`(?i)\b(?:name|born|allerg\w*|moved|live|work|wife|husband|mother|job)\b|名叫|出生|过敏|搬|住在|工作`)
	liked = regexp.MustCompile(
		`(?i)\b(?:like|love|hate|prefer|decided|plan\w*|will|bought|won|started)\b|喜欢|讨厌|决定|打算|买了`)
)

func importanceOf(sentence string) float64 {
	switch {
	case lasting.MatchString(sentence):
		return 0.9
	case liked.MatchString(sentence):
		return 0.75
	}
	return 0.4
}

// attributes match statements of attributes that have one value at a time.
var attributes = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(?:moved to|lives? in|living in)\b|搬到|住在`),
	regexp.MustCompile(`(?i)\b(?:works? (?:at|for|as)|employer)\b|工作`),
}

// decisionsOn replaces memories that give the new fact's attribute another value.
func decisionsOn(lines []line) []map[string]any {
	decisions := []map[string]any{}
	if len(lines) == 0 {
		return decisions
	}
	fact := lines[0].statement()
	for _, l := range lines[1:] {
		decision := map[string]any{"memory": l.Memory, "decision": "keep_both"}
		for _, attribute := range attributes {
			if attribute.MatchString(fact) && attribute.MatchString(l.statement()) {
				decision["decision"], decision["relation"] = "replace", "contradicts"
			}
		}
		decisions = append(decisions, decision)
	}
	return decisions
}

// insightsOf joins the first two facts.
func insightsOf(lines []line) []map[string]any {
	if len(lines) < 2 {
		return []map[string]any{}
	}
	joined := strings.TrimRight(lines[0].Fact, ".。") + "; " + lines[1].Fact
	return []map[string]any{{"insight": joined, "sources": []int{lines[0].Number, lines[1].Number}}}
}

var mostSummaries = regexp.MustCompile(`(?:One to|写一到) (\d+) `)

// Summaries answers the prompt of compression: it divides the memories in their order into as many parts as the prompt
// admits summaries. Each summary keeps the first sentences of a part, as many as have a share of its characters, at
// least one, and cites the part.
func Summaries(r ChatRequest, share float64) Reply {
	data, err := json.Marshal(map[string]any{"summaries": summariesOf(r.System, linesOf(r.User), share)})
	if err != nil {
		panic(err) // texts and numbers
	}
	return Text(string(data))
}

func summariesOf(system string, lines []line, share float64) (summaries []map[string]any) {
	most := 1
	if m := mostSummaries.FindStringSubmatch(system); m != nil {
		most, _ = strconv.Atoi(m[1])
	}
	for part := range slices.Chunk(lines, (len(lines)+most-1)/most) {
		var sources []int
		var said []string
		kept := ""
		for _, l := range part {
			sources = append(sources, l.Number)
			said = append(said, text.Sentences(strings.TrimSpace(l.statement())+" ")...)
		}
		room := int(share * float64(len([]rune(strings.Join(said, "")))))
		for _, sentence := range said {
			if kept != "" && len([]rune(kept+sentence)) > room {
				break
			}
			kept += sentence
		}
		summaries = append(summaries, map[string]any{"summary": strings.TrimSpace(kept), "sources": sources})
	}
	return summaries
}

var home = regexp.MustCompile(`\b(?:moved to|live in) ([A-Z]\w+)`)

// findingsOf is the answer to a deep reflection: the home that a user names, and
// likes.
func findingsOf(lines []line) map[string]any {
	facts, preferences := []any{}, []any{}
	for _, l := range lines {
		if l.Role != "user" {
			continue
		}
		if match := home.FindStringSubmatch(l.Said); match != nil {
			facts = append(facts, map[string]any{"type": "profile", "key": "home_city", "value": match[1], "confidence": 0.9})
		}
		for _, sentence := range text.Sentences(l.Said) {
			if isStatement(sentence) && liked.MatchString(sentence) && len(preferences) < 3 {
				preferences = append(preferences,
					map[string]any{"text": inThirdPerson(strings.TrimSpace(sentence), l.Name), "importance": 0.75})
			}
		}
	}
	return map[string]any{
		"facts": facts, "insights": []any{}, "preferences": preferences, "patterns": []any{}, "projects": []any{},
		"skills": []any{},
	}
}

// valuesOf gives the first field the words of the first statement.
func valuesOf(lines []line) (values []map[string]any) {
	for _, l := range lines {
		if l.Statement != "" && lines[0].Type == "string" && len(values) == 0 {
			values = append(values, map[string]any{
				"field": lines[0].Field, "value": strings.TrimRight(l.Statement, ".。"), "statement": l.Number, "quote": l.Statement,
			})
		}
	}
	return values
}

// step is one step of an instruction.
type step struct {
	Text    string `json:"text"`
	Sources []int  `json:"sources"`
}

// stepsOf returns the workflows that worked, and what notes say.
func stepsOf(lines []line) (steps []step) {
	for _, l := range lines {
		switch {
		case l.Workflow != "" && l.Successes > l.Failures:
			steps = append(steps, step{l.Workflow, []int{l.Number}})
		case l.Note != "":
			steps = append(steps, step{l.Note, []int{l.Number}})
		}
	}
	return steps
}
