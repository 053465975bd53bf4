package consolidation

import (
	"embed"

	"hippocampus/conversation/session"
	"hippocampus/internal/llm/prompt"
)

//go:embed prompts/*.txt
var promptFiles embed.FS

// quote makes lines of a share's events, after a summary of earlier ones if it is
// not empty.
func quote(before string, sh share) (prompt.Quoted, error) {
	var lines []any
	if before != "" {
		lines = append(lines, session.SummaryLine(before))
	}
	for _, e := range sh.events {
		lines = append(lines, session.PromptLine(e.Event, maxEventRunes))
	}
	return prompt.Quote(lines...)
}
