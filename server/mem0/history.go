package mem0

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
)

// happening is an event of a memory in mem0's form.
type happening struct {
	ID         string          `json:"id"`
	MemoryID   string          `json:"memory_id"`
	Input      []any           `json:"input"` // always empty: the turn has the messages
	OldMemory  *string         `json:"old_memory"`
	NewMemory  *string         `json:"new_memory"`
	UserID     string          `json:"user_id"`
	Event      string          `json:"event"`
	Categories []string        `json:"categories"`
	Metadata   json.RawMessage `json:"metadata"`
	CreatedAt  time.Time       `json:"created_at"`
	UpdatedAt  time.Time       `json:"updated_at"`
	IsDeleted  bool            `json:"is_deleted"`
	Cause      string          `json:"cause"` // mem0 has no such field
}

// happenings maps the kinds of events to mem0's kinds. For mem0, a memory that is not active is deleted.
var happenings = map[memory.EventKind]string{
	memory.EventCreated: "ADD", memory.EventRestored: "ADD",
	memory.EventUpdated: "UPDATE", memory.EventMerged: "UPDATE",
	memory.EventSuperseded: "DELETE", memory.EventConsolidated: "DELETE",
	memory.EventForgotten: "DELETE", memory.EventPurged: "DELETE",
}

func history(c *call) (any, error) {
	var m wire.Memory
	if err := c.ask(http.MethodGet, pathOf(c.ids[0]), nil, &m); err != nil {
		return nil, err
	}
	var answer struct {
		Events []wire.Event `json:"events"`
	}
	if err := c.ask(http.MethodGet, pathOf(c.ids[0])+"/history", nil, &answer); err != nil {
		return nil, err
	}
	// The events state what changed, so the earlier texts are computed backwards from the last event.
	list := make([]happening, len(answer.Events))
	text := m.Content
	for i, event := range slices.Backward(answer.Events) {
		h := happening{
			ID: event.ID, MemoryID: m.ID, Input: []any{}, UserID: m.UserID, Event: happenings[event.Kind],
			Categories: m.Tags, Metadata: m.Metadata, CreatedAt: m.CreatedAt, UpdatedAt: event.At, Cause: event.Cause,
		}
		after := text
		if before, changed := contentBefore(event); changed {
			text = before
		}
		before := text
		h.IsDeleted = h.Event == "DELETE"
		if !h.IsDeleted {
			h.NewMemory = &after
		}
		if h.Event != "ADD" {
			h.OldMemory = &before
		}
		list[i] = h
	}
	return list, nil
}

// contentBefore returns the text of a memory before an event that changed it.
func contentBefore(event wire.Event) (text string, changed bool) {
	type values struct {
		Content *string `json:"content"`
	}
	var detail struct {
		From   values `json:"from"`
		Change struct {
			From values `json:"from"`
		} `json:"change"` // if the detail has more than the change
	}
	if json.Unmarshal(event.Detail, &detail) != nil {
		return "", false
	}
	for _, old := range []values{detail.From, detail.Change.From} {
		if old.Content != nil {
			return *old.Content, true
		}
	}
	return "", false
}
