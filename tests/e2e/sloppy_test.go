package e2e

import (
	"fmt"
	"testing"

	"hippocampus/internal/llm/llmtest"
)

// topics are statements of a user, with the facts that the scripted model makes of them.
var topics = [][2]string{
	{"I moved to Bergen in April.", "%s moved to Bergen in April."},
	{"I work as a diver at the aquarium.", "%s work as a diver at the aquarium."},
	{"My mother plays the oboe in an orchestra.", "%s's mother plays the oboe in an orchestra."},
	{"I love cold coffee with cardamom.", "%s love cold coffee with cardamom."},
	{"I'm allergic to hazelnuts, even traces.", "%s is allergic to hazelnuts, even traces."},
	{"I decided to learn Norwegian this winter.", "%s decided to learn Norwegian this winter."},
	{"I hate flying in small planes.", "%s hate flying in small planes."},
	{"I bought a red kayak from a neighbour.", "%s bought a red kayak from a neighbour."},
	{"My wife Inga paints birds on silk.", "%s's wife Inga paints birds on silk."},
	{"I was born in Kraków in 1990.", "%s was born in Kraków in 1990."},
}

// A model whose answers are sloppy in every way in which real answers are takes part in 60 turns of six users: every
// turn is processed, every good fact is kept, and every bad item is recorded with its reason.
func TestSloppyModel_LosesNoFacts(t *testing.T) {
	t.Parallel()
	kinds := llmtest.SloppyAnswers()
	const users = 6
	kindOf := func(user, topic int) llmtest.Sloppiness { return kinds[(user*len(topics)+topic)%len(kinds)] }
	models := llmtest.New(t)
	models.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
		if llmtest.PromptName(r.System) != "score" {
			return llmtest.Sloppy(r)
		}
		for _, m := range quoted[struct {
			Before        bool
			Name, Content string
		}](r) {
			for topic, texts := range topics {
				var user int
				if n, _ := fmt.Sscanf(m.Name, "Ada%d", &user); n == 1 && !m.Before && m.Content == texts[0] {
					return llmtest.Spoilt(r, kindOf(user, topic))
				}
			}
		}
		t.Errorf("no turn is like %s", r.User)
		return llmtest.Text(`{"facts":[]}`)
	})
	s := start(t, withModels(models)...)
	cut := 0
	for topic, texts := range topics {
		for user := range users {
			name := fmt.Sprintf("Ada%d", user)
			kind := kindOf(user, topic)
			if kind.Cut {
				cut++
			}
			r := s.call("POST", "/v1/turns", object{
				"user_id": name, "conversation_id": name, "wait": true,
				"messages": []object{{"role": "user", "name": name, "content": texts[0]}},
			}, 200)
			kept, invalid := 0, 0
			for _, c := range r.list("candidates") {
				reason, _ := c["reason"].(string)
				switch {
				case c["verdict"] == "kept" && c["content"] == fmt.Sprintf(texts[1], name) && c["type"] == "fact":
					kept++
				case c["verdict"] == "invalid" && reason != "":
					invalid++
				default:
					t.Errorf("%s: %v", kind.Name, c)
				}
			}
			if r.body["status"] != "processed" || kept != 1 || invalid != kind.Adds {
				t.Errorf("%s: %d kept, %d invalid: %s", kind.Name, kept, invalid, r.raw)
			}
		}
	}
	prompts, _ := s.call("GET", "/v1/stats", nil, 200).body["prompts"].(map[string]any)
	score, _ := prompts["score"].(map[string]any)
	turns := float64(users * len(topics))
	if score["calls"] != turns+float64(cut) || score["refused"] != float64(cut) || score["salvaged"].(float64) < turns/2 {
		t.Errorf("%d answers were cut off: %v", cut, score)
	}
	if failed := s.call("GET", "/v1/turns?status=failed", nil, 200).list("turns"); len(failed) != 0 {
		t.Errorf("failed turns: %v", failed)
	}
}
