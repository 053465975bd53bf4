package db

import (
	"time"

	"hippocampus/internal/memory"
)

// Recalled is the result of Memories.Recalled.
type Recalled struct {
	Whole    []memory.Memory
	Accessed map[string]time.Time
}

// OwnerDocuments is the result of RevisionDocumentsAndUnconfirmed.
type OwnerDocuments struct {
	Revision    int64
	Documents   []Document
	Unconfirmed []memory.Memory
}

// Document is what the ranking and the filters use of an active memory.
type Document struct {
	ID             string
	Lexemes        string
	Content        string
	Domain         memory.Domain
	Type           memory.Type
	Tags           []string // nil: no tags
	AgentID        string
	ConversationID string
	Importance     float64
	CreatedAt      time.Time
	LastAccessedAt time.Time
}
