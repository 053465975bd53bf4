package memory

import (
	"encoding/json"
	"time"
)

// Consolidation is one part of making lasting memories of a conversation: the
// events From to Through (numbers, both included) taken through one step.
type Consolidation struct {
	ID string // UUIDv7
	Owner
	ConversationID string
	Type           ConsolidationType
	Trigger        ConsolidationTrigger
	State          ConsolidationState
	From, Through  int64
	Counts         json.RawMessage // what it did: a JSON object of numbers; nil: nothing yet
	Error          string          // why it was skipped, or what went wrong last; empty: nothing did
	Attempts       int             // that failed and count
	CreatedAt      time.Time
	StartedAt      time.Time // of the latest attempt; zero: none
	EndedAt        time.Time // zero: it is pending
}

// Unfinished reports whether there may be another attempt.
func (c *Consolidation) Unfinished() bool {
	return c.State == ConsolidationPending || c.State == ConsolidationFailed
}

// ConsolidationType says what a consolidation does.
type ConsolidationType string

// The types of consolidation, in the order in which they are worked.
const (
	ConsolidateEvents ConsolidationType = "events"          // events that a backend has stated pass the gate
	FastReplay        ConsolidationType = "fast_replay"     // a summary
	DeepReflection    ConsolidationType = "deep_reflection" // facts, insights and what lasts
)

// ConsolidationTypes lists every type.
var ConsolidationTypes = []ConsolidationType{ConsolidateEvents, FastReplay, DeepReflection}

// ConsolidationTrigger says why there is a consolidation.
type ConsolidationTrigger string

// The triggers.
const (
	TriggerImportant ConsolidationTrigger = "important" // an event that matters much
	TriggerFull      ConsolidationTrigger = "full"      // the working memory is nearly full
	TriggerSchedule  ConsolidationTrigger = "schedule"
	TriggerEnd       ConsolidationTrigger = "end"  // a client has ended the conversation
	TriggerIdle      ConsolidationTrigger = "idle" // the conversation has ended by itself
)

// ConsolidationState is how far a consolidation has come.
type ConsolidationState string

// The states. Done and skipped ones have ended for good; a failed one is tried
// again by the schedule until it has used up its attempts.
const (
	ConsolidationPending ConsolidationState = "pending"
	ConsolidationDone    ConsolidationState = "done"
	ConsolidationSkipped ConsolidationState = "skipped"
	ConsolidationFailed  ConsolidationState = "failed"
)
