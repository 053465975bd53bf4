package scorer

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// canned is a chat model that gives the same answer to every prompt, unless reply is set.
type canned struct {
	answer string
	reply  func(llm.Prompt) string
	err    error
	asked  llm.Prompt // the last one
}

func (c *canned) Model() string { return "canned" }

func (c *canned) Answer(_ context.Context, p llm.Prompt) (string, error) {
	c.asked = p
	if c.reply != nil {
		return c.reply(p), c.err
	}
	return c.answer, c.err
}

func said(messages ...string) memory.Turn {
	turn := memory.Turn{At: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)}
	for i, content := range messages {
		turn.Messages = append(turn.Messages, memory.Message{Role: []string{"user", "assistant"}[i%2], Content: content})
	}
	return turn
}

func TestLLM_RefusesMalformedAnswers(t *testing.T) {
	t.Parallel()
	bad := llmtest.Malformed()
	if len(bad) < 40 {
		t.Fatalf("only %d malformed answers", len(bad))
	}
	for _, b := range bad {
		for _, turn := range []memory.Turn{said("I live in Oslo"), said("我住在奥斯陆")} {
			facts, err := NewLLM(&canned{answer: b.Answer}).Score(t.Context(), turn, nil)
			var refused *BadAnswer
			switch {
			case err == nil:
				t.Errorf("%s: taken as %+v", b.Name, facts)
			case !errors.As(err, &refused) || !memory.IsKind(err, memory.KindBadAnswer):
				t.Errorf("%s: %T %v", b.Name, err, err)
			case refused.Answer != b.Answer || !refused.Corrected:
				t.Errorf("%s: the answer was not kept, or not corrected", b.Name)
			case len(err.Error()) > 400:
				t.Errorf("%s: the reason has %d bytes", b.Name, len(err.Error()))
			}
			if err != nil {
				t.Logf("%-36s %v", b.Name, err)
			}
		}
	}
}

func TestLLM_RefusesEchoesOfItsPrompt(t *testing.T) {
	t.Parallel()
	for _, fact := range []string{
		llmtest.EchoedInstruction,
		"Keep names, numbers, dates, negations and reasons",
		"只从用户自己的话里提取事实，绝不从助手的话里提取。",
		"Rosalind restores pipe organs for a living.",
	} {
		answer, err := json.Marshal(map[string]any{"facts": []any{map[string]any{"fact": fact, "importance": 1,
			"domain": "general_chat"}}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = NewLLM(&canned{answer: string(answer)}).Score(t.Context(), said("What a day"), nil)
		if !memory.IsKind(err, memory.KindBadAnswer) || !strings.Contains(err.Error(), "prompt") {
			t.Errorf("%q: %v", fact, err)
		}
	}
}

func TestLLM_PassesOtherErrorsOn(t *testing.T) {
	t.Parallel()
	away := memory.Errorf(memory.KindUnavailable, "away")
	var refused *BadAnswer
	if _, err := NewLLM(&canned{err: away}).Score(t.Context(), said("x"), nil); !errors.Is(err, away) ||
		errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
	garbage := memory.Errorf(memory.KindBadAnswer, "no choice")
	if _, err := NewLLM(&canned{err: garbage}).Score(t.Context(), said("x"), nil); !errors.As(err, &refused) ||
		refused.Corrected {
		t.Errorf("got %v", err)
	}
}

func TestLLM_OverHTTP(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	server.Facts("我在上海做后端工程师", llmtest.Fact{Fact: "用户在上海做后端工程师", Importance: 0.9, Domain: memory.Profession})
	server.Facts(`say "hi"`, llmtest.Fact{Fact: "The user says hi.", Importance: 0.2, Domain: memory.GeneralChat,
		Type: "observation"})
	client := llm.NewClient(llm.Options{BaseURL: server.URL(), APIKey: "k"})
	t.Cleanup(client.Close)
	s := NewLLM(client.Chat("deepseek-chat"))
	for content, want := range map[string][]Fact{
		"我在上海做后端工程师，平时写 Go": {
			{Content: "用户在上海做后端工程师", Importance: 0.9, Domain: memory.Profession, Type: "fact"}},
		`they say "hi" to me`: {
			{Content: "The user says hi.", Importance: 0.2, Domain: memory.GeneralChat, Type: "observation"}},
		"hello": {},
	} {
		got, err := s.Score(t.Context(), said(content), nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", content, diff)
		}
	}
	if server.Chats() != 3 || s.Name() != "deepseek-chat" {
		t.Errorf("%d calls for 3 turns, by %s", server.Chats(), s.Name())
	}
}
