// Package exchange carries an app's memories out of a server and into another:
//
//	database -> one line a memory, its history and relations -> NDJSON stream        (Export)
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
const MaxLine = 1 << 20

const (
	pageLines = 100     // memories that an export reads at once
	pageRoom  = 1 << 19 // bytes of history in one line; the rest follows in lines of its own
	batch     = 100     // lines that an import settles at once
	batchRoom = 4 << 20 // bytes of such lines
)
