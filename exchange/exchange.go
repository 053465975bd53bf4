// Package exchange carries what an app keeps of its users out of a server and into another:
//
//	database -> one line a memory, its history and relations
//	         -> facts, instructions, skills, conversations, a line a row -> NDJSON stream (Export)
//	NDJSON stream -> checked lines -> embeddings where needed -> one transaction for
//	each user of a batch -> pending vectors, pushed by the reconciler                (Import)
//
// The round trip is exact: what is exported, imported and exported again is the
// same text but for the time in its first line. Both ways hold a bounded part
// of the stream in memory, whatever its length.
package exchange

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// Records is what an exchange needs of the database.
type Records interface {
	db.Exchange
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
	InScope(ctx context.Context, scope memory.Scope, f func(ctx context.Context, tx db.InstructionTx) error) error
	InstructionVersions(ctx context.Context, scope memory.Scope, name string, below, limit int) ([]memory.InstructionVersion, error)
	ConversationTurns(ctx context.Context, owner memory.Owner, id string, after int64, limit int) ([]memory.Turn, error)
	ListConsolidations(ctx context.Context, f db.ConsolidationFilter) ([]memory.Consolidation, error)
}

// Service exports and imports.
type Service struct {
	records  Records
	embedder llm.Embedder
	now      func() time.Time
}

// New makes a service.
func New(records Records, embedder llm.Embedder, now func() time.Time) *Service {
	return &Service{records, embedder, now}
}

// MaxLine is the most bytes that a line may have, without its line break.
const MaxLine = 4 << 20 // twice what a turn was sent in, which may grow by what JSON escapes

const (
	pageLines = 100     // rows that an export reads at once
	pageTexts = 10      // of texts that may be long
	pageRoom  = 1 << 19 // bytes of history in one line; the rest follows in lines of its own
	batch     = 100     // lines that an import settles at once
	batchRoom = 4 << 20 // bytes of such lines
)
