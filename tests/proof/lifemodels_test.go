package proof

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// topic is a subject of the user's statements, with the judge's decision on two
// statements about it.
type topic struct {
	says     string // the beginning of every statement about it
	domain   memory.Domain
	judgment string // "replace contradicts", "replace refines", "merge", "merge worded" or "keep_both"
}

var topics = []topic{
	{"Ada lives in", memory.Lifestyle, "replace contradicts"},
	{"Ada drives a car of the make", memory.Lifestyle, "replace contradicts"},
	{"Ada works on the project", memory.Profession, "replace refines"},
	{"Ada keeps a pet called", memory.Social, "merge"},
	{"Ada plays music, such as", memory.Preferences, "merge worded"},
	{"Ada likes to eat", memory.Preferences, "keep_both"},
	{"Ada has been to see", memory.Lifestyle, "keep_both"},
	{"Ada met her friend", memory.Social, "keep_both"},
	{"Ada has to remember", memory.Tasks, "keep_both"},
}

// mind is the scripted models of one server: the embeddings of texts, and the
// answers of the judge, of reflection and of compression. The answers depend on the
// texts alone, so that two servers with the same life get the same answers.
type mind struct {
	*llmtest.Server
	reflections atomic.Int64
}

func newMind(t *testing.T) *mind {
	m := &mind{Server: llmtest.New(t)}
	m.OnPrompt("hippocampus/judge", judged)
	m.OnPrompt("hippocampus/reflect", m.reflected)
	m.OnPrompt("hippocampus/compress", compressed)
	return m
}

// Two statements about a topic have a cosine of 0.9 and are judged. Two wordings
// of one statement have 0.99 and are merged. Statements about two topics are far apart.
const (
	apart  = 0.33
	reword = 0.1
)

// statement returns a text about a topic, and sets its embedding.
func (m *mind) statement(place, version int, reworded bool) string {
	text := fmt.Sprintf("%s %s", topics[place].says, word(version))
	vector := make([]float32, llmtest.Dim)
	vector[place], vector[20+version%200] = 1, apart
	if reworded {
		text += ", that is for sure"
		vector[19] = reword
	}
	m.Embedding(text, vector)
	return text
}

// question returns a text that is near to all statements about a topic.
func (m *mind) question(place, day int) string {
	text := fmt.Sprintf("On day %d: what was it that %s?", day, topics[place].says)
	vector := make([]float32, llmtest.Dim)
	vector[place], vector[20+day%200] = 1, apart
	m.Embedding(text, vector)
	return text
}

// word spells a number as a word of its own.
func word(n int) string {
	const syllables = "ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu"
	list := strings.Fields(syllables)
	return "Q" + list[n%20] + list[n/20%20] + list[n/400%20]
}

func topicOf(text string) topic {
	for _, t := range topics {
		if strings.Contains(text, t.says) {
			return t
		}
	}
	return topic{judgment: "keep_both"}
}

// lines decodes the quoted JSON lines of a prompt.
func lines[T any](r llmtest.ChatRequest) (list []T) {
	for line := range strings.Lines(r.User) {
		var v T
		if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &v) == nil {
			list = append(list, v)
		}
	}
	return list
}

func answer(v any) llmtest.Reply {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // a mistake in the test
	}
	return llmtest.Text(string(text))
}

type fields = map[string]any

// judged answers the judge's prompt by the topic of the new fact.
func judged(r llmtest.ChatRequest) llmtest.Reply {
	type statement struct {
		Memory int
		Text   string
	}
	all, decisions := lines[statement](r), []fields{}
	draft, merged := all[0], false
	for _, near := range all[1:] {
		d := fields{"memory": near.Memory, "decision": "keep_both"}
		if t := topicOf(draft.Text); t.says == topicOf(near.Text).says {
			switch decision, relation, _ := strings.Cut(t.judgment, " "); {
			case decision == "replace":
				d["decision"], d["relation"] = decision, relation
			case decision == "merge" && !merged && len(near.Text) < 300:
				d["decision"], merged = decision, true
				if relation == "worded" {
					d["merged"] = near.Text + " and" + strings.TrimPrefix(draft.Text, t.says)
				}
			}
		}
		decisions = append(decisions, d)
	}
	return answer(fields{"decisions": decisions})
}

// reflected condenses the first facts of each request and retires all but one
// of them. Every fifth answer is malformed.
func (m *mind) reflected(r llmtest.ChatRequest) llmtest.Reply {
	type fact struct {
		Number int
		Fact   string
	}
	asked := m.reflections.Add(1)
	facts := lines[fact](r)
	facts = facts[:min(3, len(facts))]
	insight, cited := "Looking back,", []int{}
	for _, f := range facts {
		insight += " " + excerpt(f.Fact) + ";"
		cited = append(cited, f.Number)
	}
	if asked%5 == 0 {
		cited[0] = 1000
	}
	return answer(fields{"insights": []fields{{"insight": insight, "sources": cited}}, "retire": cited[1:]})
}

// compressed condenses a group into one line.
func compressed(r llmtest.ChatRequest) llmtest.Reply {
	type old struct {
		Number int
		Memory string
	}
	group, cited := lines[old](r), []int{}
	for _, m := range group {
		cited = append(cited, m.Number)
	}
	return answer(fields{"summaries": []fields{{"summary": "Long ago: " + excerpt(group[0].Memory), "sources": cited}}})
}

// excerpt bounds the length of repeated quotations. It cuts between words, since half a number or name would be an
// invention.
func excerpt(text string) string {
	const length = 60
	runes := []rune(text)
	if len(runes) <= length {
		return text
	}
	cut := string(runes[:length])
	if end := strings.LastIndexByte(cut, ' '); end > 0 {
		return cut[:end]
	}
	return cut
}
