// Package ingest turns what backends report into memories:
//
//	turn  -> durable -> worker -> scorer -> gate -> echo check -> embed -> neighbours, judged
//	      -> one transaction: memory, candidate, event, vector state -> push
//	write -> embed -> (neighbours, judged) -> the same transaction -> push
//	edit  -> one transaction -> push
//	refused candidate -> embed -> neighbours -> one transaction -> push
//	fact stated in a conversation -> gate -> ... as for a turn
//	memory derived from a conversation -> embed -> neighbours -> the same transaction -> push
//
// Package vectorstore/projection decides what is pushed and confirms it.
package ingest

import (
	"encoding/json"
	"time"

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
	Dedup          bool // merge into a similar active memory
}

// DefaultImportance of a memory that is written directly without one.
const DefaultImportance = 0.7

// Written is the memory that holds a write, and the verdict.
type Written struct {
	Memory  memory.Memory
	Verdict memory.Verdict // Kept, or with Dedup: Duplicate, Merged
	Reason  string         // why this verdict, for people
}

// Change is an edit of a memory; nil leaves a field as it is.
type Change struct {
	Content    *string
	Importance *float64
	Domain     *memory.Domain
	Type       *memory.Type
	Tags       *[]string
	Metadata   *json.RawMessage
	Pinned     *bool
}

// BatchResult is the result of one write of a batch: Written, or Err.
type BatchResult struct {
	Written Written
	Err     error
}
