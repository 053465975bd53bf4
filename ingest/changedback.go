package ingest

import (
	"context"
	"encoding/json"
	"slices"

	"hippocampus/db/history"
	"hippocampus/ingest/statement"
	"hippocampus/internal/memory"
)

// kindOf returns the kind of the event by which a memory is changed back. The kind shows which status the memory gets,
// as the kind of the event that first led to that status does.
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

// condensed is the detail of the event by which a memory is condensed again, as reflection/derivation records it.
type condensed struct {
	*history.Change
	Into []string `json:"into"` // ids of the memories that were derived from it
}

// condensedInto returns the ids of the memories that a memory was condensed into last; nil: it was never condensed.
func condensedInto(events []memory.Event) []string {
	for _, e := range slices.Backward(events) {
		var detail condensed
		if e.Kind == memory.EventConsolidated && json.Unmarshal(e.Detail, &detail) == nil && len(detail.Into) > 0 {
			return detail.Into
		}
	}
	return nil
}

// settledEffects settles the condensed memories after the changes of a request, and returns the effects.
func settledEffects(ctx context.Context, changes *history.Recorder) (effects []Effect, err error) {
	settled, err := changes.SettleCondensed(ctx)
	for _, m := range settled {
		done := DoneReverted
		if m.Status == memory.Active {
			done = DoneRestored
		}
		effects = append(effects, Effect{ID: m.ID, Type: m.Type, Done: done, Why: statement.Derived})
	}
	return effects, err
}
