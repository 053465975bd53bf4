// Package exchange exports all that an app keeps of its users, and imports it into
// another server:
//
//	database -> one line for each memory, with its history and relations
//	         -> one line for each other row: facts, instructions, skills, conversations
//	         -> NDJSON stream                                                     (Export)
//	NDJSON stream -> checked lines -> embeddings where needed -> one transaction for
//	each user of a batch -> pending vectors, pushed by the reconciler             (Import)
//
// The round trip is exact: what is exported, imported and exported again is the
// same text except for the time in its first line. Both directions hold a bounded
// part of the stream in memory, whatever its length.
package exchange

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// Records is the part of the database that an exchange uses.
type Records interface {
	db.Exchange
	ExportUserZones(ctx context.Context, of db.Extent, after *memory.UserZone) ([]memory.UserZone, error)
	db.UserModes
	ExportPooled(ctx context.Context, of db.Extent, after *memory.Pooled) ([]memory.Pooled, error)
	ExportFeedback(ctx context.Context, of db.Extent, after *memory.Feedback) ([]memory.Feedback, error)
	ExportSourceDocuments(
		ctx context.Context, of db.Extent, after *memory.SourceDocument,
	) ([]memory.SourceDocument, error)
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
	Memory(ctx context.Context, appID, id string) (memory.Memory, error)
	Conversation(ctx context.Context, appID, userID, id string) (memory.Conversation, error)
	InScope(ctx context.Context, scope memory.Scope, f func(ctx context.Context, tx db.InstructionTx) error) error
	InstructionVersions(
		ctx context.Context, scope memory.Scope, name string, below, limit int,
	) ([]memory.InstructionVersion, error)
	ConversationTurns(ctx context.Context, owner memory.Owner, id string, after int64, limit int) ([]memory.Turn, error)
	ListConsolidations(ctx context.Context, f db.ConsolidationFilter) ([]memory.Consolidation, error)
}

// Service exports and imports.
type Service struct {
	records  Records
	embedder llm.Embedder
	now      func() time.Time

	// OnAdded is called after memories of a user were imported. Set it before the first import.
	OnAdded func(owner memory.Owner, added int)
}

// New returns a service.
func New(records Records, embedder llm.Embedder, now func() time.Time) *Service {
	return &Service{records: records, embedder: embedder, now: now, OnAdded: func(memory.Owner, int) {}}
}

// MaxLine is the greatest number of bytes of a line, without its line break: twice the limit of a turn, since the
// escapes of JSON may lengthen a turn.
const MaxLine = 4 << 20

const (
	pageRows   = 100     // read at once by an export
	pageTexts  = 10      // rows with long texts read at once
	eventBytes = 1 << 19 // of the history in one line; the rest follows in continuation lines
	batch      = 100     // lines that an import stores at once
	batchBytes = 4 << 20 // of such lines
)
