package compression

import (
	"context"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/reflection/derivation"
	"hippocampus/reflection/episodes"
)

// Try has a model condense the memories of an episode as a compression does, and stores nothing. The memories must have
// ids. leftOut lists the refused parts of the answer with the reasons, and the memories that no summary stands for.
func Try(ctx context.Context, chat llm.Chat, memories []memory.Memory) (
	summaries []derivation.Conclusion, leftOut []string, err error,
) {
	found, err := (&Service{Parts: Parts{Chat: chat}}).ask(ctx, group{memories, coresOf(len(memories)), &episodes.Core{}})
	return found.summaries, found.leftOut, err
}
