package ingest

import (
	"encoding/json"
	"slices"

	"hippocampus/db/history"
	"hippocampus/internal/memory"
)

// kindOf returns the kind of the event by which a memory is changed back: it says in which status that leaves the
// memory, as the event does that led there for the first time.
func kindOf(before, after memory.Memory) memory.EventKind {
	switch {
	case after.Status == memory.Active:
		return memory.EventRestored
	case after.Status == memory.Superseded && after.SupersededBy != before.SupersededBy:
		return memory.EventSuperseded
	case after.Status == memory.Consolidated && before.Status != after.Status:
		return memory.EventConsolidated
	}
	return memory.EventUpdated
}

// condensed is the detail of the event of a memory that is condensed again, as reflection/derivation records it.
type condensed struct {
	*history.Change
	Into []string `json:"into"` // ids of the memories that were derived from it
}

// condensedInto returns what a memory was condensed into the last time; nil: it never was.
func condensedInto(events []memory.Event) []string {
	for _, e := range slices.Backward(events) {
		var detail condensed
		if e.Kind == memory.EventConsolidated && json.Unmarshal(e.Detail, &detail) == nil {
			return detail.Into
		}
	}
	return nil
}
