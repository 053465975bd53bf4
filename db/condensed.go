package db

import (
	"context"

	"hippocampus/internal/memory"
)

// Condensed reads the facts with the status consolidated, which insights or summaries stand for.
type Condensed interface {
	// CondensedFacts lists the owner's consolidated memories that are neither message, reflection nor summary, the latest
	// changed first, without embeddings.
	CondensedFacts(ctx context.Context, owner memory.Owner, limit int) ([]memory.Memory, error)
	// CondensedTimes lists when each of the memories that CondensedFacts lists was changed, in its order. It takes a small
	// part of the time of CondensedFacts.
	CondensedTimes(ctx context.Context, owner memory.Owner, limit int) ([]Position, error)
}

// CondensedTx reads what stands for memories in a user's transaction.
type CondensedTx interface {
	// StandIns returns active and consolidated memories in the order of their ids: those among the ids, and the sources of
	// each reflection or summary that is among the ids or was derived from one of them.
	StandIns(ctx context.Context, ids []string) ([]StandIn, error)
}

// StandIn is a memory, and the reflections and summaries that were derived from it and are active or contradicted.
type StandIn struct {
	ID        string
	Status    memory.Status
	IsForeign bool     // the memory's embedding is of another model than the one that serves
	Current   []string // ids, in order; no source of them is superseded
	Former    []string // ids, in order; each is contradicted, or active and a source of it is superseded
}
