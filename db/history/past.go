package history

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Reader is what a look into the past reads of the database.
type Reader interface {
	ListMemories(ctx context.Context, f db.MemoryFilter) ([]memory.Memory, error)
	Events(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Event, error)
}

// leastRead is how many rows List reads at once, at least: of some it turns
// out only by their events that they were different.
const leastRead = 100

// List is db.Memories.ListMemories at the filter's AsOf: the memories as they
// were then, and those that matched then. What was purged since is not there,
// and neither is what is dated (CreatedAt) later than AsOf.
func List(ctx context.Context, r Reader, f db.MemoryFilter) ([]memory.Memory, error) {
	wanted, page := f.Limit, []memory.Memory{}
	f.Limit = max(wanted, leastRead)
	for {
		rows, err := r.ListMemories(ctx, f)
		if err != nil || len(rows) == 0 {
			return page, err
		}
		ids := make([]string, len(rows))
		for i, m := range rows {
			ids[i] = m.ID
		}
		// The events are read after the rows: undoing one that a row does not
		// show yet changes nothing.
		events, err := r.Events(ctx, f.Owner, ids)
		if err != nil {
			return nil, err
		}
		for _, m := range rows {
			if then, there := At(m, events[m.ID], f.AsOf); there && matched(then, f) {
				if page = append(page, then); len(page) == wanted {
					return page, nil
				}
			}
		}
		last := rows[len(rows)-1]
		if f.Before = (&db.Position{At: last.CreatedAt, ID: last.ID}); len(rows) < f.Limit {
			return page, nil
		}
	}
}

// matched holds a memory to those conditions of a filter whose fields change.
func matched(m memory.Memory, f db.MemoryFilter) bool {
	holds := func(tag string) bool { return slices.Contains(m.Tags, tag) }
	lacks := func(tag string) bool { return !holds(tag) }
	return (len(f.Types) == 0 || slices.Contains(f.Types, m.Type)) &&
		(len(f.Domains) == 0 || slices.Contains(f.Domains, m.Domain)) &&
		(len(f.Statuses) == 0 || slices.Contains(f.Statuses, m.Status)) &&
		!slices.ContainsFunc(f.Tags, lacks) &&
		(len(f.AnyTags) == 0 || slices.ContainsFunc(f.AnyTags, holds))
}

// At gives a memory as it was at an instant: events are all of its events,
// oldest first, and those after the instant are undone, from the latest. there
// is false where it was not recorded yet, is dated later, or was purged then
// and has come back. UpdatedAt becomes the time of the latest event that is
// left. Accesses leave no events: they stay as they are now.
func At(m memory.Memory, events []memory.Event, at time.Time) (then memory.Memory, there bool) {
	then = m
	left := len(events)
	for ; left > 0 && events[left-1].At.After(at); left-- {
		undo(&then, events[left-1].Detail)
	}
	if there = !m.CreatedAt.After(at); left == len(events) {
		return then, there
	}
	if left == 0 {
		return then, there && events[0].Kind != memory.EventCreated
	}
	then.UpdatedAt = events[left-1].At
	return then, there && events[left-1].Kind != memory.EventPurged
}

// former are the values of fields before an event, as Diff tells them.
type former struct {
	Content      *string         `json:"content"`
	Importance   *float64        `json:"importance"`
	Domain       *memory.Domain  `json:"domain"`
	Type         *memory.Type    `json:"type"`
	Tags         *[]string       `json:"tags"`
	Metadata     json.RawMessage `json:"metadata"`
	Pinned       *bool           `json:"pinned"`
	Status       *memory.Status  `json:"status"`
	SupersededBy *string         `json:"superseded_by"`
}

// undo gives the fields that an event changed the values that they had before.
// A detail that tells of no change undoes nothing.
func undo(m *memory.Memory, detail json.RawMessage) {
	var told struct {
		From   former `json:"from"`
		Change struct {
			From former `json:"from"`
		} `json:"change"` // where the event tells more
	}
	if detail == nil || json.Unmarshal(detail, &told) != nil {
		return
	}
	for _, was := range []former{told.From, told.Change.From} {
		back(&m.Content, was.Content)
		back(&m.Importance, was.Importance)
		back(&m.Domain, was.Domain)
		back(&m.Type, was.Type)
		back(&m.Tags, was.Tags)
		back(&m.Pinned, was.Pinned)
		back(&m.Status, was.Status)
		back(&m.SupersededBy, was.SupersededBy)
		if was.Metadata != nil {
			m.Metadata = was.Metadata
		}
	}
	if len(m.Tags) == 0 {
		m.Tags = nil
	}
	if string(m.Metadata) == "null" {
		m.Metadata = nil
	}
}

func back[T any](field *T, was *T) {
	if was != nil {
		*field = *was
	}
}
