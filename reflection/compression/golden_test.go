package compression

import (
	"context"
	"errors"
	"testing"
	"time"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/reflection/episodes"
)

// rendering is a chat that keeps the prompt of a call and returns no answer.
type rendering struct{ llm.Prompt }

func (*rendering) Model() string { return "rendering" }

func (r *rendering) Answer(_ context.Context, p llm.Prompt) (string, error) {
	r.Prompt = p
	return "", errors.New("there is no answer")
}

// monday is the day of the first statements.
var monday = time.Date(2031, 5, 5, 8, 0, 0, 0, time.UTC)

func TestPrompts_AreGolden(t *testing.T) {
	t.Parallel()
	for language, texts := range map[string][]string{
		"en": {"Rosalind moved to Bergen yesterday.", "Her flight is next Friday.", "Nice \"flat\"!"},
		"zh": {"苏眠昨天搬到了卑尔根。", "她的航班是下周五。", "“公寓”不错！"},
	} {
		var facts, messages []memory.Memory
		var lines []Line
		for i, text := range texts {
			m := memory.Memory{Content: text, Type: memory.TypeFact, CreatedAt: monday.AddDate(0, 0, i)}
			facts, lines = append(facts, m), append(lines, Line{Said: m.CreatedAt, Text: text})
			m.Type = memory.TypeMessage
			m.ConversationID = "c"
			m.Speaker = []string{"Rosalind", "Jon", "assistant"}[i]
			messages = append(messages, m)
		}
		chat := &rendering{}
		s := New(Parts{Chat: chat}, Settings{})
		for name, ask := range map[string]func() error{
			"compress":          func() error { _, err := s.ask(t.Context(), group{facts, 3, &episodes.Core{}}); return err },
			"compress.pattern":  func() error { _, err := s.ask(t.Context(), group{facts, 1, &episodes.Core{}}); return err },
			"compress.messages": func() error { _, err := s.ask(t.Context(), group{memories: messages, most: 3}); return err },
			"condense": func() error {
				_, why := NewCondenser(chat, limits).Condense(t.Context(), lines, Room{60, false}, language)
				return errors.New(why)
			},
		} {
			if err := ask(); err == nil {
				t.Errorf("%s: an answer", name)
			}
			llmtest.Golden(t, "testdata/"+name+"."+language+".golden", chat.Prompt)
		}
	}
}
