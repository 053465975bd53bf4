package ingest

import (
	"encoding/json"
	"reflect"

	"hippocampus/internal/memory"
)

// change is what an event tells of a memory's fields: their values before and
// after, by name. Undoing a memory's changes from the latest gives it as it
// was at any instant.
type change struct {
	From map[string]any `json:"from"`
	To   map[string]any `json:"to"`
}

// merged is the detail of a merge.
type merged struct {
	Change     *change `json:"change,omitempty"`
	Similarity float64 `json:"similarity"`
	From       string  `json:"from_turn,omitempty"`
}

// note adds an event of the transaction's cause.
func (w *writing) note(memoryID string, kind memory.EventKind, detail any) {
	e := memory.Event{ID: memory.NewID(), MemoryID: memoryID, Kind: kind, Cause: w.cause, At: memory.Instant(w.s.Now())}
	if detail != nil {
		// Details are made of strings, numbers and checked JSON: encoding cannot fail.
		e.Detail, _ = json.Marshal(detail)
	}
	w.events = append(w.events, e)
}

// diff tells which fields differ; nil when none does.
func diff(before, after memory.Memory) *change {
	c := change{From: map[string]any{}, To: map[string]any{}}
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
	metadata := json.RawMessage(m.Metadata)
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
