package db

import (
	"context"

	"hippocampus/internal/memory"
)

// Faded reads the memories that the rule of retention forgot and that no request has forgotten since: see
// memory.Memory.Faded.
type Faded interface {
	// FadedWords returns the words of at most limit faded memories of a user: those accessed last, the last one first.
	FadedWords(ctx context.Context, owner memory.Owner, limit int) ([]FadedWords, error)
	// Recollectable returns the faded memories of the user with these ids, in any order, without embeddings. It leaves out
	// messages from which a superseded memory was taken, since the memory that superseded it is valid now.
	Recollectable(ctx context.Context, owner memory.Owner, ids []string) ([]memory.Memory, error)
	// Faded returns all faded memories of the user, the last accessed at the end, without embeddings.
	Faded(ctx context.Context, owner memory.Owner) ([]memory.Memory, error)
}

// FadedWords are the words of a memory.
type FadedWords struct {
	ID      string
	Lexemes string // as in memory.Memory
}
