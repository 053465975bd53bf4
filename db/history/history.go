// Package history lets a transaction change memories and tell what it changed:
//
//	before + after -> stored row + event with the fields' values from and to
//
//	rows + events after an instant, undone from the latest -> memories as they were
//
// That holds as long as every change of a memory's fields is told by Diff, as
// an event's detail, within it, or as its "change".
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

// Change is what an event tells of a memory's fields: their values before and
// after, by name.
type Change struct {
	From map[string]any `json:"from"`
	To   map[string]any `json:"to"`
}

// Diff tells which fields differ; nil when none does.
func Diff(before, after memory.Memory) *Change {
	c := Change{From: map[string]any{}, To: map[string]any{}}
	was, is := fields(before), fields(after)
	for name, value := range is {
		if !reflect.DeepEqual(was[name], value) {
			c.From[name], c.To[name] = was[name], value
		}
	}
	if len(c.To) == 0 {
		return nil
	}
	return &c
}

// fields are the ones that a history follows.
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
		"content": m.Content, "importance": m.Importance, "domain": m.Domain, "type": m.Type,
		"tags": tags, "metadata": metadata, "pinned": m.Pinned, "status": m.Status,
		"superseded_by": m.SupersededBy,
	}
}

// Recorder makes the changes of one transaction, all of one cause and instant.
type Recorder struct {
	tx      db.UserTx
	cause   string
	at      time.Time
	events  []memory.Event
	changed []string
}

// Record begins to record a transaction. The cause says what led to it, such
// as "api" or "turn <id>".
func Record(tx db.UserTx, cause string, at time.Time) *Recorder {
	return &Recorder{tx: tx, cause: cause, at: memory.Instant(at)}
}

// Note adds an event; a nil detail is none.
func (r *Recorder) Note(memoryID string, kind memory.EventKind, detail any) {
	e := memory.Event{ID: memory.NewID(), MemoryID: memoryID, Kind: kind, Cause: r.cause, At: r.at}
	if detail != nil {
		// Details are made of strings, numbers and checked JSON: encoding cannot
		// fail. Metadata within them must stay as it is, byte for byte.
		var text bytes.Buffer
		exact := json.NewEncoder(&text)
		exact.SetEscapeHTML(false)
		_ = exact.Encode(detail)
		e.Detail = bytes.TrimSuffix(text.Bytes(), []byte("\n"))
	}
	r.events = append(r.events, e)
}

// Created begins the history of a new memory, which is not stored yet: it is as
// of the instant of the record.
func (r *Recorder) Created(m *memory.Memory, detail any) {
	m.UpdatedAt = r.at
	r.Note(m.ID, memory.EventCreated, detail)
}

// Update stores a changed memory. Where the change shows in the vector store
// its revision grows, and Changed names it.
func (r *Recorder) Update(ctx context.Context, before memory.Memory, after *memory.Memory) error {
	after.UpdatedAt = r.at
	if after.Content != before.Content || after.Domain != before.Domain || after.Type != before.Type || after.Status != before.Status {
		after.Revision++
		r.changed = append(r.changed, after.ID)
	}
	return r.tx.Update(ctx, *after)
}

// Flush writes the events; it comes last in the transaction.
func (r *Recorder) Flush(ctx context.Context) error {
	if len(r.events) == 0 {
		return nil
	}
	return r.tx.AddEvents(ctx, r.events)
}

// Changed lists the memories that the vector store must hear of, once the
// transaction is committed.
func (r *Recorder) Changed() []string { return r.changed }
