package session

import (
	"context"
	"strings"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
)

const (
	maxPromptRunes = 24_000 // of events in one prompt
	maxEventRunes  = 4_000  // of one event; longer ones are cut
)

// ask has the model condense a summary and the events after it.
func (s *Service) ask(ctx context.Context, summary string, events []Event) (string, error) {
	lines, texts := []any{SummaryLine(summary)}, []string{summary}
	for _, e := range events {
		line := PromptLine(e, maxEventRunes)
		lines, texts = append(lines, line), append(texts, line.Said)
	}
	quoted, err := prompt.Quote(lines...)
	if err != nil {
		return "", err
	}
	sample := strings.Join(texts, "\n")
	answer, err := compactPrompt.Ask(ctx, s.Chat, sample, compactData{Quoted: quoted, Room: s.set.Summary})
	if err != nil {
		return "", err
	}
	return ParseSummary(answer, compactPrompt, sample, s.set.Summary)
}

// ParseSummary reads an answer that holds a summary of sample in at most
// maxRunes characters. KindBadAnswer: any part of the answer is wrong.
func ParseSummary(answer string, template prompt.Template, sample string, maxRunes int) (string, error) {
	var reply struct {
		Summary *string `json:"summary"`
	}
	if err := llm.Decode(answer, &reply); err != nil {
		return "", err
	}
	if reply.Summary == nil {
		return "", llm.BadAnswer("the answer has no summary")
	}
	summary := strings.TrimSpace(*reply.Summary)
	if why := template.Check(summary, maxRunes, sample); why != "" {
		return "", llm.BadAnswer("its summary %s", why)
	}
	return summary, nil
}
