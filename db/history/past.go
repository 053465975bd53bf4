package history

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Reader reads memories and their events; db.Store implements it.
type Reader interface {
	ListMemories(ctx context.Context, f db.MemoryFilter) ([]memory.Memory, error)
	Events(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Event, error)
}

// minRead is the minimum number of rows that List reads at once. List drops some
// of them after it has undone their events.
const minRead = 100

// List returns what db.Memories.ListMemories would have returned at f.AsOf: the
// memories that matched the filter then, with their values of then. It omits
// memories that were purged since or have a CreatedAt after AsOf.
func List(ctx context.Context, r Reader, f db.MemoryFilter) ([]memory.Memory, error) {
	wanted, page := f.Limit, []memory.Memory{}
	f.Limit = max(wanted, minRead)
	for {
		rows, err := r.ListMemories(ctx, f)
		if err != nil || len(rows) == 0 {
			return page, err
		}
		// Read the events after the rows: undoing an event that is newer than the
		// row changes nothing.
		events, err := r.Events(ctx, f.Owner, memory.IDs(rows))
		if err != nil {
			return nil, err
		}
		for _, m := range rows {
			if then, existed := At(m, events[m.ID], f.AsOf); existed && matches(then, f) {
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

// matches checks the conditions of a filter on fields that may change.
func matches(m memory.Memory, f db.MemoryFilter) bool {
	has := func(tag string) bool { return slices.Contains(m.Tags, tag) }
	lacks := func(tag string) bool { return !has(tag) }
	return (len(f.Types) == 0 || slices.Contains(f.Types, m.Type)) &&
		(len(f.Domains) == 0 || slices.Contains(f.Domains, m.Domain)) &&
		(len(f.Statuses) == 0 || slices.Contains(f.Statuses, m.Status)) &&
		!slices.ContainsFunc(f.Tags, lacks) &&
		(len(f.AnyTags) == 0 || slices.ContainsFunc(f.AnyTags, has)) &&
		(f.Unexpired.IsZero() || !m.HasExpired(f.Unexpired)) && f.Where.Matches(&m)
}

// At returns a memory as it was at an instant. events are all of its events,
// oldest first; At undoes those after the instant, from the latest. existed is
// false if the memory was not recorded yet, has a later CreatedAt, or was purged
// at that time and restored later. UpdatedAt becomes the time of the latest
// remaining event. Accesses have no events and keep their present values.
func At(m memory.Memory, events []memory.Event, at time.Time) (then memory.Memory, existed bool) {
	then = m
	left := len(events)
	for ; left > 0 && events[left-1].At.After(at); left-- {
		undo(&then, events[left-1].Detail)
	}
	existed = !m.CreatedAt.After(at)
	if left == len(events) {
		return then, existed
	}
	if left == 0 {
		return then, existed && events[0].Kind != memory.EventCreated
	}
	then.UpdatedAt = events[left-1].At
	return then, existed && events[left-1].Kind != memory.EventPurged
}

// values are those of a Change; nil means that a field did not change.
type values struct {
	Content      *string         `json:"content"`
	Asked        *string         `json:"asked"`
	Importance   *float64        `json:"importance"`
	Domain       *memory.Domain  `json:"domain"`
	Type         *memory.Type    `json:"type"`
	Tags         *[]string       `json:"tags"`
	Metadata     json.RawMessage `json:"metadata"`
	Pinned       *bool           `json:"pinned"`
	Status       *memory.Status  `json:"status"`
	Faded        *bool           `json:"faded"`
	SupersededBy *string         `json:"superseded_by"`
	LastSaidAt   *string         `json:"last_said_at"`
	ExpiresAt    *string         `json:"expires_at"`
}

// detail is the detail of an event.
type detail struct {
	From   values `json:"from"`
	To     values `json:"to"`
	Change struct {
		From values `json:"from"`
		To   values `json:"to"`
	} `json:"change"` // if the detail has more than the Change
}

// undo restores the old values of the fields that an event changed. It ignores a
// detail without a Change.
func undo(m *memory.Memory, event json.RawMessage) {
	var d detail
	if event == nil || json.Unmarshal(event, &d) != nil {
		return
	}
	d.From.assign(m)
	d.Change.From.assign(m)
}

// Reverse restores the old values of the fields that an event with this detail changed, if all of them still have the
// values that the event set.
func Reverse(m *memory.Memory, event json.RawMessage) bool {
	var d detail
	if event == nil || json.Unmarshal(event, &d) != nil {
		return false
	}
	after := *m
	d.To.assign(&after)
	d.Change.To.assign(&after)
	if Diff(*m, after) != nil {
		return false
	}
	d.From.assign(m)
	d.Change.From.assign(m)
	return true
}

// assign sets the fields that have a value.
func (v values) assign(m *memory.Memory) {
	restore(&m.Content, v.Content)
	restore(&m.Asked, v.Asked)
	restore(&m.Importance, v.Importance)
	restore(&m.Domain, v.Domain)
	restore(&m.Type, v.Type)
	restore(&m.Tags, v.Tags)
	restore(&m.Pinned, v.Pinned)
	restore(&m.Status, v.Status)
	restore(&m.Faded, v.Faded)
	restore(&m.SupersededBy, v.SupersededBy)
	if v.LastSaidAt != nil {
		m.LastSaidAt, _ = time.Parse(time.RFC3339Nano, *v.LastSaidAt) // "" is the zero time
	}
	if v.ExpiresAt != nil {
		m.ExpiresAt, _ = time.Parse(time.RFC3339Nano, *v.ExpiresAt)
	}
	if v.Metadata != nil {
		m.Metadata = v.Metadata
	}
	if len(m.Tags) == 0 {
		m.Tags = nil
	}
	if string(m.Metadata) == "null" {
		m.Metadata = nil
	}
}

func restore[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}
