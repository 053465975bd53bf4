package session

import (
	"context"
	"embed"
	"strings"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
)

const (
	maxPromptRunes  = 24_000 // of events in one prompt
	maxEventRunes   = 4_000  // of one event; what is longer is cut
	maxAnswerTokens = 4096
)

//go:embed prompts/*.txt
var promptFiles embed.FS

var compactPrompt = prompt.Parse(promptFiles, "compact")

// compactData fills the prompt.
type compactData struct {
	prompt.Quoted // events, one a line, oldest first
	Summary       string
	Room          int // characters
}

// line is an event as the model sees it.
type line struct {
	Role string             `json:"role"`
	Name string             `json:"name,omitempty"`
	Kind memory.MessageKind `json:"kind,omitempty"` // unless something was said
	Said string             `json:"said"`
}

// ask has the model say what a summary and the events after it say together.
func (s *Service) ask(ctx context.Context, summary string, events []Event) (string, error) {
	// The summary so far is quoted as the first line: it holds people's words, too.
	lines := []any{struct {
		Summary string `json:"summary_so_far"`
	}{summary}}
	sample := summary
	for _, e := range events {
		l := line{e.Role, e.Name, e.Kind, memory.Clip(e.Content, maxEventRunes)}
		if e.Kind == memory.Chat {
			l.Kind = ""
		}
		lines, sample = append(lines, l), sample+"\n"+l.Said
	}
	quoted, err := prompt.Quote(lines...)
	if err != nil {
		return "", err
	}
	p, err := compactPrompt.Render(sample, compactData{Quoted: quoted, Room: s.set.Summary}, maxAnswerTokens)
	if err != nil {
		return "", err
	}
	answer, err := s.Chat.Answer(ctx, p)
	if err != nil {
		return "", err
	}
	return parse(answer, sample, s.set.Summary)
}

// parse reads the model's answer about what sample says, and refuses it where
// anything in it is wrong (KindBadAnswer).
func parse(answer, sample string, room int) (string, error) {
	var reply struct {
		Summary *string `json:"summary"`
	}
	if err := llm.Decode(answer, &reply); err != nil {
		return "", err
	}
	if reply.Summary == nil {
		return "", memory.Errorf(memory.KindBadAnswer, "it has no summary")
	}
	summary := strings.TrimSpace(*reply.Summary)
	why := memory.CheckContent(summary, room)
	switch {
	case why != "":
	case compactPrompt.Echoes(summary):
		why = "repeats the prompt's own words"
	case prompt.Foreign(summary, sample):
		why = "is in another language than the conversation"
	}
	if why != "" {
		return "", memory.Errorf(memory.KindBadAnswer, "its summary %s", why)
	}
	return summary, nil
}
