package ingest

import (
	"strings"
	"testing"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
)

// say accepts and processes a turn of the conversation "c" that agent reports.
func (b *fixture) say(agent string, messages ...memory.Message) Outcome {
	b.t.Helper()
	turn, _, err := b.Accept(b.t.Context(),
		memory.Turn{Owner: ada, ConversationID: "c", AgentID: agent, Messages: messages})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.processTurn(b.t.Context(), turn.ID); err != nil {
		b.t.Fatal(err)
	}
	return b.outcome(turn.ID)
}

func message(role, content string) memory.Message {
	return memory.Message{Role: role, Content: content}
}

// The model is given the messages before a turn that the turn's agent may see, and no others.
func TestScore_GivesMessagesBefore(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	var prompt string
	b.models.OnPrompt(llmtest.ScoreMark, func(r llmtest.ChatRequest) llmtest.Reply {
		prompt = r.User
		return llmtest.Text(`{"facts":[]}`)
	})
	const before = `{"before":true,"role":`
	b.say("", message("user", "I moved"))
	if strings.Contains(prompt, before) {
		t.Errorf("the first turn has messages before it: %s", prompt)
	}
	b.say("", message("user", "Far away"), message("assistant", "Where to?"),
		memory.Message{Role: "tool", Kind: memory.ToolUse, Content: "found a map"})
	b.say("secret", message("user", "I told only you"))
	b.say("", message("user", "Oslo"))
	want := before + `"user","content":"I moved"}` + "\n" + before + `"user","content":"Far away"}` + "\n" +
		before + `"assistant","content":"Where to?"}` + "\n" + `{"role":"user","content":"Oslo"}`
	if !strings.Contains(prompt, want) || strings.Contains(prompt, "only you") || strings.Contains(prompt, "map") {
		t.Errorf("prompt %s", prompt)
	}
	b.say("secret", message("user", "Bergen"))
	want = before + `"user","content":"I told only you"}` + "\n" + before + `"user","content":"Oslo"}`
	if !strings.Contains(prompt, want) {
		t.Errorf("prompt of the agent %s", prompt)
	}
	far := b.say("", message("user", "I live far away. I like tea"))
	apptest.Withhold(t, b.store, far.Turn, "I live far away.")
	b.say("", message("user", "And coffee"))
	if !strings.Contains(prompt, before+`"user","content":"I like tea"}`) || strings.Contains(prompt, "live far") {
		t.Errorf("prompt with a withheld sentence %s", prompt)
	}
	apptest.Withhold(t, b.store, far.Turn, "I live far away. I like tea")
	b.say("", message("user", "And cake"))
	if strings.Contains(prompt, `"content":""`) || strings.Contains(prompt, "tea") {
		t.Errorf("prompt with a withheld message %s", prompt)
	}
	replayed := b.accept("I live far away. I like cake")
	apptest.Withhold(t, b.store, replayed, "I live far away.")
	if err := b.processTurn(t.Context(), replayed.ID); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(prompt, "live far") || !strings.Contains(prompt, "I like cake") {
		t.Errorf("prompt of a turn with a withheld sentence %s", prompt)
	}
	b.turn("I swim")
	if strings.Contains(prompt, before) {
		t.Errorf("a turn of no conversation has messages before it: %s", prompt)
	}
}

// Small talk costs no model call, unless it may answer a question. The turn is processed.
func TestScore_DoesNotAskAboutSmallTalk(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, turn []memory.Message
		asked        bool
	}{
		"statement":       {turn: []memory.Message{message("user", "I live in Oslo")}, asked: true},
		"thanks":          {turn: []memory.Message{message("user", "thanks"), message("assistant", "Any time! More?")}},
		"assistant alone": {turn: []memory.Message{message("assistant", "You live in Oslo")}},
		"statement later": {
			turn:  []memory.Message{message("user", "thanks"), message("user", "I live in Oslo")},
			asked: true,
		},
		"answer": {
			turn:  []memory.Message{message("assistant", "Do you live in Oslo?"), message("user", "yes")},
			asked: true,
		},
		"answer to a question before": {
			before: []memory.Message{message("user", "I moved"), message("assistant", "你住在奥斯陆吗")},
			turn:   []memory.Message{message("user", "yes")}, asked: true,
		},
		"answer to small talk": {turn: []memory.Message{message("assistant", "How are you?"), message("user", "thanks")}},
		"after a statement": {
			before: []memory.Message{message("user", "Do you know Oslo?"), message("assistant", "I do.")},
			turn:   []memory.Message{message("user", "thanks")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t)
			if test.before != nil {
				b.say("", test.before...)
			}
			calls := b.models.Chats()
			o := b.say("", test.turn...)
			if o.Turn.Status != memory.TurnProcessed || b.models.Chats()-calls != map[bool]int{true: 1}[test.asked] {
				t.Errorf("%s after %d calls", o.Turn.Status, b.models.Chats()-calls)
			}
		})
	}
}

// A bad fact is recorded with its reason, and the good facts of the answer are kept.
func TestScore_RecordsInvalidFactsOfAGoodAnswer(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.models.OnPrompt(llmtest.ScoreMark, func(llmtest.ChatRequest) llmtest.Reply {
		return llmtest.Text("```json\n" + `{"facts":[
			{"fact":"Ada keeps bees.","importance":"0.9","domain":"Lifestyle and Interests"},
			{"fact":"Ada owns \u202ea hive.","importance":9,"domain":"general_chat"},],}` + "\n```")
	})
	o := b.turn("I keep bees")
	if o.Turn.Status != memory.TurnProcessed || len(o.Candidates) != 2 || b.models.Chats() != 1 {
		t.Fatalf("%+v", o)
	}
	kept, invalid := o.Candidates[0], o.Candidates[1]
	if kept.Verdict != memory.Kept || kept.Domain != memory.Lifestyle || len(b.memories()) != 1 {
		t.Errorf("kept %+v", kept)
	}
	if invalid.Verdict != memory.InvalidAnswer || invalid.Reason != "it has an importance outside 0 to 1" ||
		!strings.HasPrefix(invalid.Content, `{"fact":"Ada owns`) || invalid.MemoryID != "" {
		t.Errorf("invalid %+v", invalid)
	}
}

// A model that repeats itself at temperature 0 answers well once it is given the reason, and nothing is lost.
func TestScore_KeepsWhatACorrectedAnswerStates(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]string{
		"cut off":       `{"facts":[{"fact":"Ada keeps bees.","importance":0.9,"domain":"lifestyle_and`,
		"single quotes": `{'facts':[{'fact':'Ada keeps bees.','importance':0.9}]}`,
		"a word":        `{"facts":[{"fact":"Ada keeps bees.","importance":"high","domain":"general_chat"}]}`,
		"two objects":   `{"facts":[]} {"facts":[{}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t)
			b.models.OnPrompt(llmtest.ScoreMark, func(r llmtest.ChatRequest) llmtest.Reply {
				if r.Correction == "" || !strings.Contains(r.Body, `"temperature":0,`) {
					return llmtest.Text(bad)
				}
				return llmtest.Text(`{"facts":[{"fact":"Ada keeps bees.","importance":0.9,"domain":"lifestyle_and_interests"}]}`)
			})
			o := b.turn("I keep bees")
			if o.Turn.Status != memory.TurnProcessed || len(o.Candidates) != 1 ||
				o.Candidates[0].Verdict != memory.Kept || len(b.memories()) != 1 || b.models.Chats() != 2 {
				t.Errorf("%+v after %d calls", o, b.models.Chats())
			}
		})
	}
}
