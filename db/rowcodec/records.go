package rowcodec

import (
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Ends is a relation with the times at which its two ends were created.
type Ends struct {
	memory.Relation
	FromAt, ToAt time.Time
}

// later is the end that comes later in (CreatedAt, ID) order.
func (e Ends) later() string {
	if order := e.FromAt.Compare(e.ToAt); order > 0 || order == 0 && e.From > e.To {
		return e.From
	}
	return e.To
}

// Exported assembles a page of an export. Each relation goes to the later of its
// ends, or is omitted if that end is not on the page.
func Exported(page []memory.Memory, events []memory.Event, relations []Ends) []db.Record {
	records := make([]db.Record, len(page))
	places := make(map[string]*db.Record, len(page))
	for i, m := range page {
		records[i].Memory = m
		places[m.ID] = &records[i]
	}
	for _, e := range events {
		r := places[e.MemoryID]
		r.Events = append(r.Events, e)
	}
	for _, e := range relations {
		if r := places[e.later()]; r != nil {
			r.Relations = append(r.Relations, e.Relation)
		}
	}
	return records
}

// Recorded assembles what is recorded under each id. Relations go to both of their
// ends, and the events of a purged memory make a record without a memory.
func Recorded(memories []memory.Memory, events []memory.Event, relations []Ends) map[string]db.Record {
	records := make(map[string]db.Record, len(memories))
	for _, m := range memories {
		records[m.ID] = db.Record{Memory: m}
	}
	for _, e := range events {
		r := records[e.MemoryID]
		r.Events = append(r.Events, e)
		records[e.MemoryID] = r
	}
	for _, e := range relations {
		for _, id := range []string{e.From, e.To} {
			if r, ok := records[id]; ok {
				r.Relations = append(r.Relations, e.Relation)
				records[id] = r
			}
		}
	}
	return records
}

// ByMemory groups events by memory, in their order.
func ByMemory(events []memory.Event) map[string][]memory.Event {
	histories := map[string][]memory.Event{}
	for _, e := range events {
		histories[e.MemoryID] = append(histories[e.MemoryID], e)
	}
	return histories
}
