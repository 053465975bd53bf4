package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// SourceDocuments keeps the documents whose passages are memories. A forgotten one stays until it is purged.
type SourceDocuments interface {
	// SourceDocument finds a document of the app by its id. KindNotFound: it does not exist.
	SourceDocument(ctx context.Context, appID, id string) (memory.SourceDocument, error)
	// ListSourceDocuments pages through the documents of a user that are not forgotten, newest first.
	ListSourceDocuments(ctx context.Context, f SourceDocumentFilter) ([]memory.SourceDocument, error)
	// PurgeSourceDocuments deletes documents of any app that were forgotten before an instant, at most limit of them.
	PurgeSourceDocuments(ctx context.Context, before time.Time, limit int) (int, error)
	// ExportSourceDocuments pages through documents, in (UserID, CreatedAt, ID) order, strictly after one; nil: from the
	// first.
	ExportSourceDocuments(ctx context.Context, of Extent, after *memory.SourceDocument) ([]memory.SourceDocument, error)
}

// SourceDocumentTx is SourceDocuments in a user's transaction.
type SourceDocumentTx interface {
	// SourceDocumentByRef returns the document of the owner and agent that a ref names; ok is false if it does not exist.
	SourceDocumentByRef(ctx context.Context, agentID, ref string) (d memory.SourceDocument, ok bool, err error)
	// RecordedSourceDocument returns a document of the owner; ok is false if it does not exist.
	RecordedSourceDocument(ctx context.Context, id string) (d memory.SourceDocument, ok bool, err error)
	// PutSourceDocument stores a document of the owner, in place of the one with its id. KindConflict: another document
	// has its ref, or another owner's has its id.
	PutSourceDocument(ctx context.Context, d memory.SourceDocument) error
}

// SourceDocumentFilter chooses documents.
type SourceDocumentFilter struct {
	Owner   memory.Owner
	AgentID string    // also those of no agent; empty: those of all agents
	Before  *Position // strictly older than this, in (CreatedAt, ID) order
	Limit   int       // required, 1..memory.MaxPage
}
