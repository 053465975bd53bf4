// Package history records changes of memories as events and reads memories as
// they were at an earlier instant:
//
//	before + after -> stored row + event with the old and new values of its fields
//
//	rows + events after an instant, undone from the latest -> memories as they were
//
// Every change of a memory's fields must be recorded as a Change: as the detail
// of an event, embedded in it, or as its "change".
package history

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Change holds the old and new values of the changed fields, by name.
type Change struct {
	From map[string]any `json:"from"`
	To   map[string]any `json:"to"`
}

// Diff returns the fields that differ; nil if all are equal.
func Diff(before, after memory.Memory) *Change {
	c := Change{From: map[string]any{}, To: map[string]any{}}
	from := fields(before)
	for name, value := range fields(after) {
		if !reflect.DeepEqual(from[name], value) {
			c.From[name], c.To[name] = from[name], value
		}
	}
	if len(c.To) == 0 {
		return nil
	}
	return &c
}

// fields returns the fields whose changes are recorded.
func fields(m memory.Memory) map[string]any {
	metadata := m.Metadata
	if metadata == nil {
		metadata = json.RawMessage("null")
	}
	tags := m.Tags
	if tags == nil {
		tags = []string{}
	}
	return map[string]any{
		"content": m.Content, "asked": m.Asked, "importance": m.Importance, "domain": m.Domain, "type": m.Type,
		"tags": tags, "metadata": metadata, "pinned": m.Pinned, "status": m.Status,
		"faded":         m.Faded,
		"superseded_by": m.SupersededBy, "last_said_at": stamp(m.LastSaidAt), "expires_at": stamp(m.ExpiresAt),
	}
}

// stamp is the form in which a time is recorded; "" is the zero time.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// Recorder makes and records the changes of one transaction. They share a cause
// and an instant.
type Recorder struct {
	tx      db.UserTx
	cause   string
	at      time.Time
	events  []memory.Event
	changed []string

	unsettled []string // ids of the changes that SettleCondensed has not seen
}

// NewRecorder returns a recorder for a transaction. The cause is, for example,
// "api" or "turn <id>".
func NewRecorder(tx db.UserTx, cause string, at time.Time) *Recorder {
	return &Recorder{tx: tx, cause: cause, at: memory.Instant(at)}
}

// Note adds an event; detail may be nil.
func (r *Recorder) Note(memoryID string, kind memory.EventKind, detail any) {
	e := memory.Event{ID: memory.NewID(), MemoryID: memoryID, Kind: kind, Cause: r.cause, At: r.at}
	if detail != nil {
		// Encoding cannot fail: details consist of strings, numbers and validated
		// JSON. Metadata must keep its bytes, hence no HTML escapes.
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(detail)
		e.Detail = bytes.TrimSuffix(text.Bytes(), []byte("\n"))
	}
	r.events = append(r.events, e)
}

// Created records the creation of a memory that is not stored yet and sets its
// UpdatedAt.
func (r *Recorder) Created(m *memory.Memory, detail any) {
	m.UpdatedAt = r.at
	r.Note(m.ID, memory.EventCreated, detail)
}

// Update stores a changed memory. If the change affects the vector store, Update
// increments the memory's revision and adds its id to Changed. When a superseded memory becomes active again, the
// values on timelines that ended with it become valid again.
func (r *Recorder) Update(ctx context.Context, before memory.Memory, after *memory.Memory) error {
	after.UpdatedAt = r.at
	if after.Content != before.Content || after.Asked != before.Asked || after.Domain != before.Domain ||
		after.Type != before.Type || after.Status != before.Status {
		after.Revision++
		r.changed = append(r.changed, after.ID)
	}
	if standsDifferently(&before, after) {
		r.unsettled = append(r.unsettled, after.ID)
	}
	if before.Status == memory.Superseded && after.Status == memory.Active {
		if err := ResumeFacts(ctx, r.tx, after.ID, func(Change) bool { return true }); err != nil {
			return err
		}
	}
	return r.tx.Update(ctx, *after)
}

// Flush settles what stands for condensed memories, and writes the events. Call it at the end of the transaction.
func (r *Recorder) Flush(ctx context.Context) error {
	if _, err := r.SettleCondensed(ctx); err != nil {
		return err
	}
	if len(r.events) == 0 {
		return nil
	}
	return r.tx.AddEvents(ctx, r.events)
}

// Noted lists the ids of the memories of the events, as often as they have one.
func (r *Recorder) Noted() (ids []string) {
	for _, e := range r.events {
		ids = append(ids, e.MemoryID)
	}
	return ids
}

// Changed lists the ids of the memories to push to the vector store after the
// transaction is committed.
func (r *Recorder) Changed() []string { return r.changed }
