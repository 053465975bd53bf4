package changes

import (
	"encoding/json"
	"strings"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// importance is that of each message of a user, set by the scripted model.
const importance = 0.8

// script lets a scripted chat model score, judge and route without a mistake: each message of a user is a fact, and a
// new fact replaces a memory exactly if they are the two statements of a pair.
func script(server *llmtest.Server) {
	newer := map[string]string{} // newer statement by the older one
	for _, language := range Languages {
		for _, p := range Pairs(language) {
			newer[p.Older] = p.Newer
		}
	}
	server.OnPrompt("hippocampus/score", func(r llmtest.ChatRequest) llmtest.Reply {
		facts := []llmtest.Fact{}
		for _, l := range linesOf(r.User) {
			if l.Role == "user" && !l.Before {
				facts = append(facts, llmtest.Fact{Fact: l.Content, Importance: importance, Domain: memory.Lifestyle})
			}
		}
		return answer(map[string]any{"facts": facts})
	})
	server.OnPrompt("hippocampus/judge", func(r llmtest.ChatRequest) llmtest.Reply {
		decisions := []map[string]any{}
		lines := linesOf(r.User)
		for _, l := range lines[1:] {
			decision := map[string]any{"memory": l.Memory, "decision": "keep_both", "why": "each is true"}
			if newer[l.Text] == lines[0].Text {
				decision = map[string]any{"memory": l.Memory, "decision": "replace", "relation": "contradicts"}
			}
			decisions = append(decisions, decision)
		}
		return answer(map[string]any{"decisions": decisions})
	})
}

// line is a quoted line of the scorer's or the judge's prompt.
type line struct {
	Role, Content string // in the scorer's prompt
	Before        bool   // of an earlier turn
	Memory        int    // its number in the judge's prompt
	Text          string
}

func linesOf(prompt string) (list []line) {
	for row := range strings.Lines(prompt) {
		var l line
		if strings.HasPrefix(row, "{") && json.Unmarshal([]byte(row), &l) == nil {
			list = append(list, l)
		}
	}
	return list
}

func answer(v any) llmtest.Reply {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // the answers have only texts, numbers and lists of them
	}
	return llmtest.Text(string(text))
}
