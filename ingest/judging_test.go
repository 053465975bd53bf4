package ingest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/ingest/write"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// The judge is asked about the five nearest memories from judge_similarity on, also if they would be merged without a
// judge, and about memories that have the attribute, a topic or a rare word in common with the fact. It is not asked
// about memories with equal words, or of other agents.
func TestJudge_IsAskedAboutWhatMayBeTheSame(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		old, newer string
		cosine     float64
		agent      string
		asked      int
		reason     string
	}{
		"nearer than merge_similarity": {"Drinks green tea", "Takes coffee", 0.985, "", 1, "another statement"},
		"in between":                   {"Drinks green tea", "Takes coffee", 0.81, "", 1, "another statement"},
		"below the floor":              {"Collects stamps", "Takes coffee", 0.79, "", 0, "was not asked"},
		"the same topic":               {"Drinks green tea", "Takes coffee", 0.1, "", 1, "another statement"},
		"another agent's":              {"Drinks green tea", "Takes coffee", 0.9, "other", 0, "was not asked"},
		"the same attribute":           {"I live in Porto", "We moved to Braga last month", 0.1, "", 1, "another statement"},
		"the same name":                {"Has a beagle called Bruno", "Bruno died in March", 0.1, "", 1, "another statement"},
		"the same words":               {"Drinks green tea", "drinks  green tea.", 0.99, "", 0, "in the same words"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t)
			asked := 0
			b.models.OnPrompt(judgeMark, func(llmtest.ChatRequest) llmtest.Reply {
				asked++
				return llmtest.Text(`{"decisions":[{"memory":1,"decision":"keep_both","why":"two things"}]}`)
			})
			b.similar(c.old, c.newer, c.cosine)
			b.write(c.old, 0.8, time.Time{})
			w, err := b.Write(t.Context(), Write{Owner: ada, Content: c.newer, AgentID: c.agent, Dedup: true})
			if err != nil || asked != c.asked || !strings.Contains(w.Reason, c.reason) {
				t.Errorf("asked %d times, %+v, %v", asked, w, err)
			}
			if c.asked > 0 && !strings.Contains(w.Reason, "(two things)") {
				t.Errorf("the reason %q is not the judge's", w.Reason)
			}
		})
	}
}

// One call decides about the five nearest memories and about those that share words with the fact.
func TestJudge_IsAskedOnceAboutAllThatItSees(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	var asked []string
	b.models.OnPrompt(judgeMark, func(r llmtest.ChatRequest) llmtest.Reply {
		asked = append(asked, r.User)
		return llmtest.Text(`{"decisions":[{"memory":1,"decision":"keep_both"}]}`)
	})
	vector := func(place int, cosine float64) []float32 {
		v := make([]float32, llmtest.Dim)
		v[0] = float32(cosine)
		v[place] = float32(math.Sqrt(1 - cosine*cosine))
		return v
	}
	b.models.Embedding("Bruno chased Oscar", vector(20, 1))
	for i := range 14 {
		content, cosine := fmt.Sprintf("Near %c", 'A'+i), 0.9
		if i >= 8 {
			content, cosine = fmt.Sprintf("Far %c", 'A'+i), 0.1
		}
		if i >= 11 {
			content = fmt.Sprintf("Bruno met %c", 'A'+i)
		}
		b.models.Embedding(content, vector(i+1, cosine))
		if _, err := b.Write(t.Context(), Write{Owner: ada, Content: content}); err != nil {
			t.Fatal(err)
		}
	}
	b.write("Bruno chased Oscar", 0.8, time.Time{})
	if len(asked) != 1 || strings.Count(asked[0], "Near ") != 5 ||
		strings.Count(asked[0], "Bruno met ") != 3 || strings.Count(asked[0], `"memory":`) != 8 {
		t.Errorf("asked %q", asked)
	}
}

// Two facts of one answer that are as similar as a repetition are judged also.
func TestJudge_DecidesAboutFactsOfOneAnswer(t *testing.T) {
	t.Parallel()
	for decision, kept := range map[string]int{"keep_both": 2, "merge": 1, "replace": 1} {
		b := newFixture(t)
		const tea, coffee = "The user drinks green tea", "The user takes coffee"
		b.similar(tea, coffee, 0.985)
		b.models.OnPrompt(judgeMark, answersBy(map[string]string{tea: decision}))
		b.models.Facts("drinks", llmtest.Fact{Fact: tea, Importance: 0.8, Domain: memory.Lifestyle},
			llmtest.Fact{Fact: coffee, Importance: 0.9, Domain: memory.Lifestyle})
		got := b.turn("My drinks are green tea and coffee").Candidates
		if active := b.facts(); len(got) != 2 || len(active) != kept {
			t.Errorf("%s: active %+v, candidates %+v", decision, active, got)
		}
	}
}

// facts are the active memories other than messages.
func (b *fixture) facts() []memory.Memory {
	return slices.DeleteFunc(b.memories(), func(m memory.Memory) bool { return m.Type == memory.TypeMessage })
}

// A judge that is late or unavailable keeps both memories, and the reason says so.
func TestJudge_ReasonNamesAFailure(t *testing.T) {
	t.Parallel()
	for want, reply := range map[string]llmtest.Reply{
		"did not answer in time": llmtest.Hang(), "was unavailable": llmtest.Status(503), "was refused": llmtest.Text("no"),
	} {
		b := newFixture(t)
		if strings.HasPrefix(want, "did not answer") {
			impatient := comparing
			impatient.JudgeTimeout = 300 * time.Millisecond
			b.Writer = write.New(b.Writer.Parts, impatient)
		}
		b.similar(beijing, shanghai, 0.9)
		b.write(beijing, 0.8, time.Time{})
		b.models.OnPrompt(judgeMark, func(llmtest.ChatRequest) llmtest.Reply { return reply })
		if w := b.write(shanghai, 0.8, time.Time{}); !strings.Contains(w.Reason, want) || len(b.memories()) != 2 {
			t.Errorf("%s: %+v", want, w)
		}
	}
}
