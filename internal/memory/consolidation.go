package memory

import (
	"encoding/json"
	"time"
)

// Consolidation is one step that turns the events From to Through (numbers,
// both included) of a conversation into lasting memories.
type Consolidation struct {
	ID string // UUIDv7
	Owner
	ConversationID string
	Type           ConsolidationType
	Trigger        ConsolidationTrigger
	State          ConsolidationState
	From, Through  int64
	Counts         json.RawMessage // a JSON object of what it made, by name; nil: it has not run
	Error          string          // why it was skipped, what an answer lost, or the latest error; empty: no error
	Attempts       int             // failed attempts that count towards the limit
	CreatedAt      time.Time
	StartedAt      time.Time // start of the latest attempt; zero: there was no attempt
	EndedAt        time.Time // zero: it is pending
}

// Unfinished reports whether there may be another attempt.
func (c *Consolidation) Unfinished() bool {
	return c.State == ConsolidationPending || c.State == ConsolidationFailed
}

// ConsolidationType says what a consolidation does.
type ConsolidationType string

// The types of consolidation, in the order in which they run.
const (
	ConsolidateEvents ConsolidationType = "events"          // passes events with a kind other than Chat through the gate
	FastReplay        ConsolidationType = "fast_replay"     // writes a summary
	DeepReflection    ConsolidationType = "deep_reflection" // derives facts and insights
)

// ConsolidationTypes lists every type.
var ConsolidationTypes = []ConsolidationType{ConsolidateEvents, FastReplay, DeepReflection}

// ConsolidationTrigger says why a consolidation was started.
type ConsolidationTrigger string

// The triggers.
const (
	TriggerImportant ConsolidationTrigger = "important" // an important event
	TriggerFull      ConsolidationTrigger = "full"      // the working memory is nearly full
	TriggerSchedule  ConsolidationTrigger = "schedule"
	TriggerEnd       ConsolidationTrigger = "end"     // a client ended the conversation
	TriggerIdle      ConsolidationTrigger = "idle"    // the conversation was idle for too long
	TriggerRequest   ConsolidationTrigger = "request" // a client asked for it while the conversation goes on
)

// ConsolidationState is the progress of a consolidation.
type ConsolidationState string

// The states. Done and skipped are final; the schedule retries a failed
// consolidation until it has used up its attempts.
const (
	ConsolidationPending ConsolidationState = "pending"
	ConsolidationDone    ConsolidationState = "done"
	ConsolidationSkipped ConsolidationState = "skipped"
	ConsolidationFailed  ConsolidationState = "failed"
)
