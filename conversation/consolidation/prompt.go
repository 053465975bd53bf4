package consolidation

import (
	"embed"

	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
)

const maxAnswerTokens = 4096

//go:embed prompts/*.txt
var promptFiles embed.FS

// line is an event as the model sees it.
type line struct {
	Role string             `json:"role"`
	Name string             `json:"name,omitempty"`
	Kind memory.MessageKind `json:"kind,omitempty"` // unless something was said
	Said string             `json:"said"`
}

// quote makes lines of what was said; before is a summary of what came earlier,
// "" where nothing did or nobody needs it.
func quote(before string, sh share) (prompt.Quoted, error) {
	var lines []any
	if before != "" { // it holds people's words, too
		lines = append(lines, struct {
			Summary string `json:"summary_so_far"`
		}{before})
	}
	for _, e := range sh.events {
		l := line{e.Role, e.Name, e.Kind, e.Content}
		if e.Kind == memory.Chat {
			l.Kind = ""
		}
		lines = append(lines, l)
	}
	return prompt.Quote(lines...)
}

func refuse(format string, args ...any) error {
	return memory.Errorf(memory.KindBadAnswer, format, args...)
}
