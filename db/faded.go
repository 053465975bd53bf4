package db

import (
	"context"

	"hippocampus/internal/memory"
)

// Faded reads the memories that the rule of retention forgot and that no request has forgotten since: see
// memory.Memory.Faded.
type Faded interface {
	// FadedWords reads the up to limit faded memories of a user that were accessed last. It returns how many these are
	// and the words of those whose lexemes contain one of the parts, the one that was accessed last first. It may return
	// others too.
	FadedWords(ctx context.Context, owner memory.Owner, parts []string, limit int) (
		found []FadedWords, all int, err error)
	// Recollectable returns those of the ids that are faded memories of the user, in any order, without embeddings,
	// except for messages from which a superseded memory was taken: what superseded it holds now.
	Recollectable(ctx context.Context, owner memory.Owner, ids []string) ([]memory.Memory, error)
	// Faded returns all faded memories of the user, the one that was accessed last at the end, without embeddings.
	Faded(ctx context.Context, owner memory.Owner) ([]memory.Memory, error)
}

// FadedWords are the words of a memory.
type FadedWords struct {
	ID      string
	Lexemes string // as in memory.Memory
}
