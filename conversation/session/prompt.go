package session

import (
	"embed"

	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
)

//go:embed prompts/*.txt
var promptFiles embed.FS

var compactPrompt = prompt.Parse(promptFiles, "compact")

// compactData fills the prompt.
type compactData struct {
	prompt.Quoted // events, one per line, oldest first
	Summary       string
	Room          int // characters
}

// PromptEvent is an event in a prompt.
type PromptEvent struct {
	Role string             `json:"role"`
	Name string             `json:"name,omitempty"`
	Kind memory.MessageKind `json:"kind,omitempty"` // empty for chat
	Said string             `json:"said"`
}

// PromptLine is an event as a line of a prompt, with at most so many characters
// of its content.
func PromptLine(e Event, maxRunes int) PromptEvent {
	line := PromptEvent{Role: e.Role, Name: e.Name, Kind: e.Kind, Said: memory.Clip(e.Content, maxRunes)}
	if e.Kind == memory.Chat {
		line.Kind = ""
	}
	return line
}

// SummaryLine is a running summary as a line of a prompt. It is quoted like the
// events, since it holds users' words also.
func SummaryLine(summary string) any {
	return struct {
		Summary string `json:"summary_so_far"`
	}{summary}
}
