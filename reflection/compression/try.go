package compression

import (
	"context"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/reflection/derivation"
)

// Try has a model condense related memories as a compression does, and stores nothing. The memories
// must have ids.
func Try(ctx context.Context, chat llm.Chat, memories []memory.Memory) ([]derivation.Conclusion, error) {
	return (&Service{Parts: Parts{Chat: chat}}).ask(ctx, memories)
}
