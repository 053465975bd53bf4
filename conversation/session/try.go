package session

import (
	"context"

	"hippocampus/internal/llm"
)

// Try has a model condense a summary and the events after it as a compaction does, and stores nothing.
// The result has at most maxRunes characters.
func Try(ctx context.Context, chat llm.Chat, summary string, events []Event, maxRunes int) (string, error) {
	s := &Service{Parts: Parts{Chat: chat}, set: Settings{Summary: maxRunes}}
	return s.ask(ctx, summary, events)
}
