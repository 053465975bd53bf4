package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hippocampus/internal/llm/llmtest"
)

// TestStatements_LiveOnce with a scripted model, whose reflections condense facts: each condensed fact has an insight
// that states what is true now.
func TestStatements_LiveOnceCondensed(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, slices.Concat(size.settings(t), withModels(condensingModels(t)), []string{
			"HIPPOCAMPUS_REFLECTION_IMPORTANCE=1000", // only on request
		})...)
		most := 10 // talks
		if size.name == "sqlite" || long {
			most = 60
		}
		talks := 0
		rapid.Check(t, func(rt *rapid.T) {
			talks++
			if talks > most && !t.Failed() {
				return
			}
			k := &talk{T: rt, s: s, user: fmt.Sprintf("condensed-%d", talks), alone: true}
			operations := []func(*rapid.T){k.say, k.say, k.say, k.forget, k.restore, k.withdraw, k.condense, k.condense}
			for range rapid.IntRange(3, 16).Draw(rt, "operations") {
				rapid.SampledFrom(operations).Draw(rt, "operation")(rt)
			}
			k.check()
			k.checkCondensed()
		})
	})
}

// condense condenses the facts since the last reflection, if there are two or more.
func (k *talk) condense(*rapid.T) {
	r := k.ask("POST", "/v1/reflect", object{"user_id": k.user, "force": true}, 200)
	for _, m := range r.list("insights") {
		k.did = append(k.did, fmt.Sprintf("reflect: %v", m["content"]))
	}
}

// checkCondensed checks that an active insight states each condensed fact, and no home but the current one.
func (k *talk) checkCondensed() {
	condensed := k.listed("consolidated")
	insights := k.stated("reflection")
	current := k.homes()
	isOtherHome := func(insight string) bool {
		return slices.ContainsFunc(someHomes, func(home string) bool {
			return strings.Contains(insight, home) && !slices.Contains(current, home)
		})
	}
	for _, m := range condensed {
		value := m["content"].(string)[strings.LastIndex(m["content"].(string), " ")+1:]
		states := func(insight string) bool {
			return strings.Contains(insight, strings.TrimSuffix(value, ".")) && !isOtherHome(insight)
		}
		if !slices.ContainsFunc(insights, states) {
			k.Fatalf("no current insight states the condensed %q: %q, %s", m["content"], insights, k.history())
		}
	}
}

var statedFact = regexp.MustCompile(`I (live in|love) (\w+)\.`)

// condensingModels starts models: the scorer takes each sentence for a fact, the judge replaces homes, and reflection
// condenses all facts into one insight.
func condensingModels(t *testing.T) *llmtest.Server {
	models := llmtest.New(t)
	models.OnPrompt(llmtest.ScoreMark, func(r llmtest.ChatRequest) llmtest.Reply {
		facts := []object{}
		for _, stated := range statedFact.FindAllStringSubmatch(r.User, -1) {
			verb := map[string]string{"live in": "lives in", "love": "loves"}[stated[1]]
			facts = append(facts, object{
				"fact": fmt.Sprintf("The user %s %s.", verb, stated[2]), "importance": 0.9, "domain": "general_chat",
			})
		}
		return answer(object{"facts": facts})
	})
	models.OnPrompt("hippocampus/judge", func(r llmtest.ChatRequest) llmtest.Reply {
		all := quoted[struct {
			Memory int
			Text   string
		}](r)
		isHome := func(text string) bool {
			return strings.HasPrefix(text, "The user lives in") && !strings.Contains(text, " and ")
		}
		decisions := []object{}
		for _, near := range all[1:] {
			decision := object{"memory": near.Memory, "decision": "keep_both"}
			if isHome(near.Text) && isHome(all[0].Text) && near.Text != all[0].Text {
				decision["decision"], decision["relation"] = "replace", "contradicts"
			}
			decisions = append(decisions, decision)
		}
		return answer(object{"decisions": decisions})
	})
	models.OnPrompt("hippocampus/reflect", func(r llmtest.ChatRequest) llmtest.Reply {
		var said []string
		cited := []int{}
		for _, f := range quoted[struct {
			Number int
			Fact   string
		}](r) {
			cited = append(cited, f.Number)
			said = append(said, strings.TrimSuffix(strings.TrimPrefix(f.Fact, "The user "), "."))
		}
		insight := object{"insight": "The user " + strings.Join(said, " and ") + ".", "sources": cited}
		return answer(object{"insights": []object{insight}, "retire": cited})
	})
	return models
}
