package e2e

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// The cosine of a fact to one that it replaces, which is judged, and to one that it
// repeats, which the judge merges.
const (
	replacing = 0.9
	repeating = 0.97
)

// scriptedModels answer by the script. They recognise a turn or a talk by the user's
// messages.
type scriptedModels struct {
	*llmtest.Server
	hang sync.Once
	hung chan struct{} // closed when the scorer hangs, which happens once: in the turn during which all servers are killed
}

func newScriptedModels(t *testing.T, script []entry) *scriptedModels {
	models := &scriptedModels{Server: llmtest.New(t), hung: make(chan struct{})}
	replaces, repeats := map[string]string{}, map[string]string{}
	talks, turns := map[string]entry{}, map[string]said{}
	for _, e := range script {
		if e.Talk == "" {
			continue
		}
		talks[e.Turns[0].Said[0].text()] = e
		for _, turn := range e.Turns {
			for _, m := range turn.Said {
				turns[m.User] = turn
			}
			for _, f := range turn.Facts {
				switch {
				case f.Replaces != "":
					replaces[f.Fact] = f.Replaces
					models.Embedding(f.Fact, atCosine(models, f.Fact, f.Replaces, replacing))
				case f.Repeats != "":
					repeats[f.Fact] = f.Repeats
					models.Embedding(f.Fact, atCosine(models, f.Fact, f.Repeats, repeating))
				}
			}
		}
	}
	delete(turns, "")
	models.OnPrompt(llmtest.ScoreMark, func(r llmtest.ChatRequest) llmtest.Reply {
		return models.scored(r, turns)
	})
	// of returns the talk that a prompt quotes.
	of := func(r llmtest.ChatRequest) entry {
		for _, line := range quoted[struct{ Said string }](r) {
			if e, ok := talks[line.Said]; ok && (e.answers() != nil || e.Condensed != "") {
				return e
			}
		}
		t.Errorf("a model is asked about a talk that nobody had, or that has not ended: %s", r.User)
		return entry{Idle: &remembers{}}
	}
	models.OnPrompt("hippocampus/compact", func(r llmtest.ChatRequest) llmtest.Reply {
		return answer(object{"summary": of(r).Condensed})
	})
	models.OnPrompt("hippocampus/replay", func(r llmtest.ChatRequest) llmtest.Reply {
		return answer(object{"summary": of(r).answers().Summary})
	})
	models.OnPrompt("hippocampus/deep", func(r llmtest.ChatRequest) llmtest.Reply {
		return answer(of(r).answers().lasting())
	})
	models.OnPrompt("hippocampus/judge", func(r llmtest.ChatRequest) llmtest.Reply {
		return judgedBy(r, replaces, repeats)
	})
	models.OnPrompt("hippocampus/reflect", func(r llmtest.ChatRequest) llmtest.Reply { return insightsOf(r, script) })
	return models
}

// scored answers with the facts of the turn that a prompt quotes.
func (models *scriptedModels) scored(r llmtest.ChatRequest, turns map[string]said) llmtest.Reply {
	facts := []llmtest.Fact{}
	for _, m := range quoted[struct {
		Before  bool // of an earlier turn
		Content string
	}](r) {
		turn, ok := turns[m.Content]
		if !ok || m.Before {
			continue
		}
		if turn.Killed == "all" {
			first := false
			models.hang.Do(func() {
				first = true
				close(models.hung)
			})
			if first {
				return llmtest.Hang()
			}
		}
		for _, f := range turn.Facts {
			facts = append(facts,
				llmtest.Fact{Fact: f.Fact, Importance: f.Importance, Domain: memory.Domain(f.Domain), Type: memory.Type(f.Type)})
		}
		break
	}
	return answer(object{"facts": facts})
}

// atCosine returns an embedding of a text that has this cosine to another text's
// embedding.
func atCosine(models *scriptedModels, text, other string, cosine float64) []float32 {
	a, b := models.Vector(other), models.Vector(text)
	dot := func(x, y []float32) (sum float64) {
		for i := range x {
			sum += float64(x[i]) * float64(y[i])
		}
		return sum
	}
	share := dot(a, b) / dot(a, a)
	for i := range b {
		b[i] -= float32(share) * a[i]
	}
	along, across := cosine/math.Sqrt(dot(a, a)), math.Sqrt((1-cosine*cosine)/dot(b, b))
	for i := range b {
		b[i] = float32(along)*a[i] + float32(across)*b[i]
	}
	return b
}

// quoted decodes the JSON lines of a prompt.
func quoted[T any](r llmtest.ChatRequest) (list []T) {
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
		panic(err) // a mistake in the script
	}
	return llmtest.Text(string(text))
}

// lasting returns the answer of a deep reflection, with every required field.
func (r *remembers) lasting() object {
	return object{
		"facts": append([]deepFact{}, r.Facts...), "insights": append([]deepInsight{}, r.Insights...),
		"preferences": append([]deepText{}, r.Preferences...), "patterns": append([]deepText{}, r.Patterns...),
		"projects": append([]deepText{}, r.Projects...), "skills": append([]deepText{}, r.Skills...),
	}
}

// judgedBy lets a new fact replace, or merge with, the memory that the script names, and keeps all others.
func judgedBy(r llmtest.ChatRequest, replaces, repeats map[string]string) llmtest.Reply {
	all := quoted[struct {
		Memory int
		Text   string
	}](r)
	decisions := []object{}
	for _, near := range all[1:] {
		decision := object{"memory": near.Memory, "decision": "keep_both"}
		switch near.Text {
		case replaces[all[0].Text]:
			decision["decision"], decision["relation"] = "replace", "contradicts"
		case repeats[all[0].Text]:
			decision["decision"] = "merge"
		}
		decisions = append(decisions, decision)
	}
	return answer(object{"decisions": decisions})
}

// insightsOf answers with the script's reflections whose sources are all among the
// facts.
func insightsOf(r llmtest.ChatRequest, script []entry) llmtest.Reply {
	numbers := map[string]int{}
	for _, f := range quoted[struct {
		Number int
		Fact   string
	}](r) {
		numbers[f.Fact] = f.Number
	}
	of := func(contents []string) (list []int, all bool) {
		for _, content := range contents {
			list = append(list, numbers[content])
		}
		return list, !slices.Contains(list, 0)
	}
	insights, retired := []object{}, []int{}
	for _, e := range script {
		if e.Reflect == nil {
			continue
		}
		for _, in := range e.Reflect.Insights {
			sources, ok := of(in.Sources)
			if !ok {
				continue
			}
			insights = append(insights, object{"insight": in.Insight, "sources": sources})
			retire, _ := of(e.Reflect.Retire)
			retired = append(retired, retire...)
		}
	}
	return answer(object{"insights": insights, "retire": retired})
}
