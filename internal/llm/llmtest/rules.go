package llmtest

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Rules answers every prompt of the server as an honest chat model might, by simple
// rules: statements of the user in the first person become facts, and summaries and
// insights consist of words of their sources. The same request always has the same
// answer. Use it with OnChat.
func Rules(r ChatRequest) Reply { return Text(RulesText(r)) }

// RulesText is the text that Rules answers with.
func RulesText(r ChatRequest) string {
	lines := linesOf(r.User)
	var answer any
	switch PromptName(r.System) {
	case "score":
		facts := map[string]any{"facts": factsOf(lines)}
		if strings.Contains(r.System, "[hippocampus/policy]") {
			facts["never"] = []string{}
		}
		answer = facts
	case "route":
		answer = map[string]any{"domains": domainsOf(wordsOf(lines))}
	case "judge":
		answer = map[string]any{"decisions": decisionsOn(lines)}
	case "reflect":
		answer = map[string]any{"insights": insightsOf(lines), "retire": []int{}}
	case "compress":
		answer = map[string]any{"summaries": summariesOf(r.System, lines, 0.6)}
	case "condense":
		answer = map[string]any{"text": shortened(wordsOf(lines), roomOf(r.System+r.User))}
	case "name":
		answer = map[string]any{"title": shortened(wordsOf(lines), 50)}
	case "replay", "compact":
		answer = map[string]any{"summary": shortened(wordsOf(lines), 150)}
	case "evolve":
		answer = map[string]any{"steps": stepsOf(lines)}
	case "fields":
		answer = map[string]any{"values": valuesOf(lines)}
	case "deep":
		answer = findingsOf(lines)
	default:
		return "I do not know this prompt."
	}
	data, err := json.Marshal(answer)
	if err != nil {
		panic(err) // the answers have only texts, numbers and lists of them
	}
	return string(data)
}

var promptMark = regexp.MustCompile(`\[hippocampus/(\w+)\]`)

// PromptName is the name in a system prompt's first line, such as "score"; "" if it
// has none.
func PromptName(system string) string {
	if match := promptMark.FindStringSubmatch(system); match != nil {
		return match[1]
	}
	return ""
}

// line is a quoted line of a prompt. The fields that a prompt does not have are zero.
type line struct {
	Role, Name, Content, Said, Text, Fact string
	Field, Type, Statement                string
	Workflow, Note                        string
	Number, Successes, Failures           int
	Memory                                any    // a number in judge, a text in compress
	Before                                bool   // of an earlier turn
	Summary                               string `json:"summary_so_far"`
}

// linesOf decodes the quoted lines of a prompt.
func linesOf(user string) (list []line) {
	for row := range strings.Lines(user) {
		var l line
		var content string
		switch {
		case json.Unmarshal([]byte(row), &content) == nil:
			list = append(list, line{Content: content})
		case strings.HasPrefix(row, "{") && json.Unmarshal([]byte(row), &l) == nil:
			list = append(list, l)
		}
	}
	return list
}

// statement is the text that a line holds, whatever its prompt.
func (l line) statement() string {
	if old, ok := l.Memory.(string); ok {
		return old
	}
	for _, s := range []string{l.Content, l.Text, l.Fact, l.Summary, l.Said} {
		if s != "" {
			return s
		}
	}
	return ""
}

// wordsOf joins the statements of all lines.
func wordsOf(lines []line) string {
	var all []string
	for _, l := range lines {
		all = append(all, strings.TrimSpace(l.statement()))
	}
	return strings.Join(all, " ")
}

// shortened is the beginning of s: whole words of at most so many characters.
func shortened(s string, room int) string {
	s = strings.Join(strings.Fields(s), " ")
	runes := []rune(s)
	if len(runes) <= room {
		return s
	}
	short := string(runes[:room])
	if i := strings.LastIndexAny(short, " 。，"); i > 0 {
		short = short[:i]
	}
	return short
}

var room = regexp.MustCompile(`(\d+) ?(?:tokens|characters|words|个)`)

// roomOf returns the number of the size limit in a prompt, taken as characters. So many characters fit a limit in
// tokens or words too.
func roomOf(prompt string) int {
	if match := room.FindStringSubmatch(prompt); match != nil {
		n, _ := strconv.Atoi(match[1]) // too large a number is the largest one
		return n
	}
	return 60
}

// subjects are words of the domains, as stems and Chinese parts of words.
var subjects = []struct {
	domain memory.Domain
	words  []string
}{
	{memory.Social, []string{"wife", "husband", "mother", "father", "sister", "brother", "friend", "dog", "cat", "kid",
		"family", "妻", "妈", "爸", "姐", "弟", "朋友", "孩子", "猫", "狗"}},
	{memory.Profession, []string{"work", "job", "project", "exam", "study", "course", "company", "工作", "公司", "项目",
		"考试", "课"}},
	{memory.Tasks, []string{"tomorrow", "next week", "appointment", "deadline", "remind", "friday", "明天", "下周", "提醒",
		"预约"}},
	{memory.Preferences, []string{"like", "love", "hate", "favourite", "favorite", "prefer", "allerg", "喜欢", "讨厌", "最爱",
		"过敏"}},
	{memory.Lifestyle, []string{"home", "house", "live", "moved", "food", "eat", "drink", "run", "travel", "trip", "住",
		"搬", "家", "吃", "喝", "跑", "旅行"}},
}

// domainsOf are the domains whose words occur in a text, at most three.
func domainsOf(s string) []memory.Domain {
	s = strings.ToLower(s)
	var found []memory.Domain
	for _, subject := range subjects {
		for _, word := range subject.words {
			if strings.Contains(s, word) {
				found = append(found, subject.domain)
				break
			}
		}
	}
	if found == nil {
		return []memory.Domain{memory.Preferences, memory.Lifestyle}
	}
	return found[:min(len(found), 3)]
}

// isStatement reports whether a sentence states something in the first person.
func isStatement(sentence string) bool {
	if strings.ContainsAny(sentence, "?？") {
		return false
	}
	if text.IsChinese(sentence) {
		return strings.Contains(sentence, "我") && len([]rune(sentence)) >= 6
	}
	return firstPerson.MatchString(sentence) && len(strings.Fields(sentence)) >= 4
}

var firstPerson = regexp.MustCompile(`\b(?:I|I'm|I've|My|my)\b`)
