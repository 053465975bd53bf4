package history

import (
	"context"
	"encoding/json"
	"slices"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Released is the detail of the event that makes a condensed memory active again, since all insights and summaries that
// stood for it are former: each of them is contradicted, or a source of it is superseded.
type Released struct {
	*Change
	Former []string `json:"former"` // their ids
}

// condensedAgain is the detail of the event by which a released memory is condensed again.
type condensedAgain struct {
	*Change
	Into []string `json:"into"` // ids of the insights and summaries that stand for it
}

// standsDifferently reports whether a change of status may decide what stands for condensed memories: an insight, or a
// source of one, becomes superseded or ceases to be, an insight becomes active again, or a memory is condensed.
func standsDifferently(before, after *memory.Memory) bool {
	switch {
	case before.Status == after.Status || after.Type == memory.TypeMessage:
		return false
	case before.Status == memory.Superseded || after.Status == memory.Superseded:
		return true
	case after.Status == memory.Consolidated:
		return true
	}
	return after.Status == memory.Active && after.Type.IsDerived()
}

// SettleCondensed makes a condensed memory active if only former insights or summaries stand for it. It condenses a
// memory again that it has made active and nothing has changed since, once an insight or summary that is not former
// stands for it. It considers the memories that the changes so far may affect, and returns those that it changed. Flush
// considers the rest.
func (r *Recorder) SettleCondensed(ctx context.Context) (changed []memory.Memory, err error) {
	if len(r.unsettled) == 0 {
		return nil, nil
	}
	ids := r.unsettled
	found, err := r.tx.StandIns(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, s := range found {
		var m memory.Memory
		var isChanged bool
		switch {
		case s.Status == memory.Consolidated && len(s.Current) == 0 && (len(s.Former) > 0 || slices.Contains(ids, s.ID)):
			m, isChanged, err = r.release(ctx, s)
		case s.Status == memory.Active && len(s.Current) > 0:
			m, isChanged, err = r.condenseAgain(ctx, s)
		}
		if err != nil {
			return nil, err
		}
		if isChanged {
			changed = append(changed, m)
		}
	}
	r.unsettled = nil // also the ids that these changes noted, since they supersede nothing
	return changed, nil
}

// release makes a condensed memory active. An embedding by another model than the serving one is removed: the server
// embeds the memory within an hour, and its words find it until then.
func (r *Recorder) release(ctx context.Context, s db.StandIn) (m memory.Memory, isChanged bool, err error) {
	found, err := r.tx.Memories(ctx, []string{s.ID})
	if err != nil || len(found) == 0 {
		return m, false, err
	}
	m = found[0]
	before := m
	m.Status, m.LastAccessedAt = memory.Active, r.at
	if s.IsForeign {
		m.Embed(nil, "")
	}
	r.Note(m.ID, memory.EventRestored, Released{Change: Diff(before, m), Former: append([]string{}, s.Former...)})
	err = r.Update(ctx, before, &m)
	return m, true, err
}

// condenseAgain condenses a memory again if release made the latest change of it.
func (r *Recorder) condenseAgain(ctx context.Context, s db.StandIn) (m memory.Memory, isChanged bool, err error) {
	if slices.ContainsFunc(r.events, func(e memory.Event) bool { return e.MemoryID == s.ID }) {
		return m, false, nil
	}
	events, err := r.tx.Events(ctx, s.ID)
	if err != nil || !isRelease(events) {
		return m, false, err
	}
	found, err := r.tx.Memories(ctx, []string{s.ID})
	if err != nil || len(found) == 0 {
		return m, false, err
	}
	m = found[0]
	before := m
	m.Status = memory.Consolidated
	r.Note(m.ID, memory.EventConsolidated, condensedAgain{Change: Diff(before, m), Into: s.Current})
	err = r.Update(ctx, before, &m)
	return m, true, err
}

// isRelease reports whether the latest of the events made a memory active because what stood for it was former.
func isRelease(events []memory.Event) bool {
	if len(events) == 0 || events[len(events)-1].Kind != memory.EventRestored {
		return false
	}
	var detail Released
	return json.Unmarshal(events[len(events)-1].Detail, &detail) == nil && detail.Former != nil
}

// WasCondensed reports whether a memory was condensed when the memory by superseded it. events are those of the memory,
// oldest first.
func WasCondensed(events []memory.Event, by string) bool {
	for _, e := range slices.Backward(events) {
		var detail struct {
			Change
			Whole Change `json:"change"`
		}
		if e.Kind != memory.EventSuperseded || json.Unmarshal(e.Detail, &detail) != nil {
			continue
		}
		for _, c := range []Change{detail.Change, detail.Whole} {
			if c.To["superseded_by"] == by && c.From["status"] != nil {
				return c.From["status"] == string(memory.Consolidated)
			}
		}
	}
	return false
}
