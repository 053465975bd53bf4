// Package wire defines the JSON that the API's responses and the lines of an
// export have in common:
//
//	memory.X -> wire.X -> JSON of a response (server/api) or of an export line (exchange)
//
// The order of the fields and what is omitted if empty are part of both formats.
package wire

import (
	"encoding/json"
	"time"

	"hippocampus/internal/memory"
)

// Memory is the JSON of a memory.
type Memory struct {
	ID             string          `json:"id"`
	UserID         string          `json:"user_id"`
	AgentID        string          `json:"agent_id,omitempty"`
	ConversationID string          `json:"conversation_id,omitempty"`
	SourceTurnID   string          `json:"source_turn_id,omitempty"`
	Speaker        string          `json:"said_by,omitempty"`
	Asked          string          `json:"asked,omitempty"`
	Content        string          `json:"content"`
	Type           memory.Type     `json:"type"`
	Domain         memory.Domain   `json:"domain"`
	Tags           []string        `json:"tags"`
	Importance     float64         `json:"importance"`
	Metadata       json.RawMessage `json:"metadata,omitempty"`
	Pinned         bool            `json:"pinned"`
	Status         memory.Status   `json:"status"`
	Faded          bool            `json:"faded,omitempty"`
	WordsOnly      bool            `json:"words_only,omitempty"` // of an active memory; not read from an export
	SupersededBy   string          `json:"superseded_by,omitempty"`
	CreatedAt      time.Time       `json:"created_at"`
	LastSaidAt     time.Time       `json:"last_said_at,omitzero"`
	ExpiresAt      time.Time       `json:"expires_at,omitzero"`
	UpdatedAt      time.Time       `json:"updated_at"`
	LastAccessedAt time.Time       `json:"last_accessed_at"`
	AccessCount    int             `json:"access_count"`
}

// MemoryOf converts a memory, without its embedding. Its Tags are never nil.
func MemoryOf(m memory.Memory) Memory {
	w := Memory{
		ID: m.ID, UserID: m.UserID, AgentID: m.AgentID, ConversationID: m.ConversationID, SourceTurnID: m.SourceTurnID,
		Speaker: m.Speaker, Asked: m.Asked, Content: m.Content, Type: m.Type, Domain: m.Domain, Tags: m.Tags,
		Importance: m.Importance, Metadata: m.Metadata, Pinned: m.Pinned, Status: m.Status, Faded: m.Faded,
		WordsOnly: m.Status == memory.Active && m.WordsOnly(), SupersededBy: m.SupersededBy,
		CreatedAt: m.CreatedAt, LastSaidAt: m.LastSaidAt, ExpiresAt: m.ExpiresAt, UpdatedAt: m.UpdatedAt,
		LastAccessedAt: m.LastAccessedAt, AccessCount: m.AccessCount,
	}
	if w.Tags == nil {
		w.Tags = []string{}
	}
	return w
}

// Memory converts back to a memory of an app. Its Tags are nil if w has no tags.
func (w Memory) Memory(appID string) memory.Memory {
	m := memory.Memory{
		ID: w.ID, Owner: memory.Owner{AppID: appID, UserID: w.UserID}, AgentID: w.AgentID,
		ConversationID: w.ConversationID, SourceTurnID: w.SourceTurnID, Speaker: w.Speaker, Asked: w.Asked,
		Content: w.Content, Type: w.Type, Domain: w.Domain,
		Importance: w.Importance, Metadata: w.Metadata, Pinned: w.Pinned, Status: w.Status, Faded: w.Faded,
		SupersededBy: w.SupersededBy,
		CreatedAt:    memory.Instant(w.CreatedAt), UpdatedAt: memory.Instant(w.UpdatedAt),
		LastAccessedAt: memory.Instant(w.LastAccessedAt), AccessCount: w.AccessCount,
	}
	m.SayAgain(w.LastSaidAt)
	if !w.ExpiresAt.IsZero() {
		m.ExpiresAt = memory.Instant(w.ExpiresAt)
	}
	if len(w.Tags) > 0 {
		m.Tags = w.Tags
	}
	return m
}

// Event is the JSON of a memory event; memory.Event converts to it and back.
type Event struct {
	ID       string           `json:"id"`
	MemoryID string           `json:"memory_id,omitempty"` // an export line names the memory only once
	Kind     memory.EventKind `json:"kind"`
	Cause    string           `json:"cause"`
	Detail   json.RawMessage  `json:"detail,omitempty"`
	At       time.Time        `json:"at"`
}

// Relation is the JSON of a relation.
type Relation struct {
	From      string              `json:"from"`
	Kind      memory.RelationKind `json:"kind"`
	To        string              `json:"to"`
	CreatedAt time.Time           `json:"created_at"`
}

// RelationOf converts a relation.
func RelationOf(r memory.Relation) Relation {
	return Relation{From: r.From, Kind: r.Kind, To: r.To, CreatedAt: r.CreatedAt}
}

// Fact is the JSON of a timeline fact, without the fields that follow in a
// different order: when it was recorded, and its memory.
type Fact struct {
	ID         string           `json:"id"`
	UserID     string           `json:"user_id"`
	Type       string           `json:"type"`
	Key        string           `json:"key"`
	Value      json.RawMessage  `json:"value,omitempty"` // may be null; absent if the state is ended
	Confidence float64          `json:"confidence"`
	ValidFrom  time.Time        `json:"valid_from"`
	ValidUntil time.Time        `json:"valid_until,omitzero"`
	Source     string           `json:"source,omitempty"`
	State      memory.FactState `json:"state"`
	Reason     string           `json:"reason"`
}

// FactOf converts a fact.
func FactOf(f memory.Fact) Fact {
	return Fact{
		ID: f.ID, UserID: f.UserID, Type: f.Type, Key: f.Key, Value: f.Value, Confidence: f.Confidence,
		ValidFrom: f.ValidFrom, ValidUntil: f.ValidUntil, Source: f.Source, State: f.State, Reason: f.Reason,
	}
}

// Scope is the JSON of an instruction's scope.
type Scope struct {
	Scope   memory.ScopeKind `json:"scope"`
	AgentID string           `json:"agent_id,omitempty"`
	UserID  string           `json:"user_id,omitempty"`
}

// ScopeOf converts a scope.
func ScopeOf(s memory.Scope) Scope {
	w := Scope{Scope: s.Kind}
	switch s.Kind {
	case memory.AgentScope:
		w.AgentID = s.ID
	case memory.UserScope:
		w.UserID = s.ID
	}
	return w
}

// InstructionVersion is the JSON of a version of an instruction.
type InstructionVersion struct {
	Number      int             `json:"version"`
	Content     string          `json:"content"`
	Note        string          `json:"note,omitempty"`
	PublishedAt time.Time       `json:"published_at"`
	Grounds     []memory.Ground `json:"grounds,omitempty"`
	Before      *Outcomes       `json:"before,omitempty"`
	After       *Outcomes       `json:"after,omitempty"`
}

// Outcomes is the JSON of outcomes that were counted.
type Outcomes struct {
	Successes int     `json:"successes"`
	Failures  int     `json:"failures"`
	Rate      float64 `json:"rate"` // of success
}

func outcomesOf(o memory.Outcomes) *Outcomes {
	if o == (memory.Outcomes{}) {
		return nil
	}
	return &Outcomes{o.Successes, o.Failures, float64(o.Successes) / float64(o.Successes+o.Failures)}
}

func (o *Outcomes) counts() memory.Outcomes {
	if o == nil {
		return memory.Outcomes{}
	}
	return memory.Outcomes{Successes: o.Successes, Failures: o.Failures}
}

// VersionOf returns the JSON of a version.
func VersionOf(v memory.InstructionVersion) InstructionVersion {
	return InstructionVersion{
		Number: v.Number, Content: v.Content, Note: v.Note, PublishedAt: v.PublishedAt, Grounds: v.Grounds,
		Before: outcomesOf(v.Before), After: outcomesOf(v.After),
	}
}

// Version returns the version that the JSON is of.
func (v InstructionVersion) Version() memory.InstructionVersion {
	return memory.InstructionVersion{
		Number: v.Number, Content: v.Content, Note: v.Note, PublishedAt: v.PublishedAt, Grounds: v.Grounds,
		Before: v.Before.counts(), After: v.After.counts(),
	}
}

// Consolidation is the JSON of a consolidation.
type Consolidation struct {
	ID        string                      `json:"id"`
	Type      memory.ConsolidationType    `json:"type"`
	Trigger   memory.ConsolidationTrigger `json:"trigger"`
	State     memory.ConsolidationState   `json:"state"`
	From      int64                       `json:"from_event"`
	Through   int64                       `json:"through_event"`
	Counts    json.RawMessage             `json:"counts,omitempty"`
	Error     string                      `json:"error,omitempty"`
	Attempts  *int                        `json:"attempts,omitempty"` // an export line omits 0 also
	CreatedAt time.Time                   `json:"created_at"`
	StartedAt time.Time                   `json:"started_at,omitzero"`
	EndedAt   time.Time                   `json:"ended_at,omitzero"`
}

// ConsolidationOf converts a consolidation.
func ConsolidationOf(c memory.Consolidation) Consolidation {
	return Consolidation{
		ID: c.ID, Type: c.Type, Trigger: c.Trigger, State: c.State, From: c.From, Through: c.Through, Counts: c.Counts,
		Error: c.Error, Attempts: &c.Attempts, CreatedAt: c.CreatedAt, StartedAt: c.StartedAt, EndedAt: c.EndedAt,
	}
}
