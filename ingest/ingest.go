// Package ingest turns what backends report into memories:
//
//	turn -> durable -> worker -> scorer -> gate and echo check -> drafts of messages and facts -> write
//	direct write, refused candidate, consolidation of a conversation, past turn -> drafts -> write
//	edit, forget, restore -> one transaction -> push
//
// Package ingest/write compares drafts with the user's memories and stores them. Package vectorstore/projection decides
// what is pushed and confirms it.
package ingest

import (
	"encoding/json"
	"time"

	"hippocampus/ingest/write"
	"hippocampus/internal/memory"
)

// Outcome is a turn with its candidates.
type Outcome struct {
	Turn       memory.Turn
	Candidates []memory.Candidate
}

// Write is a memory given directly, without a scorer.
type Write struct {
	Owner          memory.Owner
	Content        string
	Importance     *float64      // nil: DefaultImportance
	Domain         memory.Domain // empty: guessed from the content
	Type           memory.Type   // empty: fact
	At             time.Time     // zero: now
	ConversationID string
	AgentID        string
	Tags           []string
	Metadata       json.RawMessage
	Pinned         bool
	Dedup          bool // it is compared like a fact of a turn, and may be merged into an active memory
	Alone          bool // it is compared with nothing; otherwise, without Dedup, rules compare it
	Expires        memory.Expiry
}

// DefaultImportance of a memory that is written directly without one.
const DefaultImportance = 0.7

// Change is an edit of a memory; nil leaves a field as it is.
type Change struct {
	Content    *string
	Importance *float64
	Domain     *memory.Domain
	Type       *memory.Type
	Tags       *[]string
	Metadata   *json.RawMessage
	Pinned     *bool
	Expires    *memory.Expiry
}

// BatchResult is the result of one write of a batch: Written, or Err.
type BatchResult struct {
	Written write.Written
	Err     error
}
