package ingest

import (
	"context"
	"slices"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/ingest/write"
	"hippocampus/internal/memory"
)

// noteFact notes a fact that was forgotten and is active again. A fact that is active again because a request undoes
// its supersession stays active next to the fact that superseded it.
func (r *restoring) noteFact(before, after memory.Memory) {
	if before.Status == memory.Forgotten && after.Status == memory.Active && after.Type != memory.TypeMessage {
		r.facts = append(r.facts, after)
	}
}

// settle compares the facts that are active again with what was said since they were forgotten, and updates the results
// of facts that this supersedes.
func (r *restoring) settle(
	ctx context.Context, tx db.UserTx, changes *history.Recorder, apply write.Settle, restored []memory.Memory,
	results []Edited,
) error {
	isFact := func(m memory.Memory) bool {
		return m.Status == memory.Active && slices.ContainsFunc(r.facts, func(f memory.Memory) bool { return f.ID == m.ID })
	}
	facts := slices.DeleteFunc(slices.Clone(restored), func(m memory.Memory) bool { return !isFact(m) })
	if len(facts) == 0 {
		return nil
	}
	if err := apply(ctx, tx, changes, facts); err != nil {
		return err
	}
	settled, err := tx.Memories(ctx, memory.IDs(facts))
	for _, m := range settled {
		m.Embedding = nil
		for i := range results {
			if results[i].ID == m.ID {
				results[i].Memory = m
			}
		}
	}
	return err
}

// sourcesOfReversals returns the sources of the memories of the reversals, by the ids of these memories.
func (r *restoring) sourcesOfReversals(ctx context.Context) (map[string][]memory.Memory, error) {
	if len(r.reversals) == 0 {
		return nil, nil
	}
	ids := make([]string, len(r.reversals))
	for i, change := range r.reversals {
		ids[i] = change.id
	}
	return r.Records.Sources(ctx, r.owner, ids)
}

// statesWhatIsGone reports whether a memory is an insight or a summary with a source that was forgotten after it and
// does not come back: such a memory stays as it is, and its other sources are not condensed again.
func (r *restoring) statesWhatIsGone(m memory.Memory, sources []memory.Memory) bool {
	comesBack := func(s memory.Memory) bool {
		undoes := func(change reversal) bool {
			return change.id == s.ID && history.Reverse(&s, change.detail) && !isGone(s)
		}
		return slices.ContainsFunc(r.reversals, undoes) ||
			slices.ContainsFunc(r.batch, func(m memory.Memory) bool { return m.ID == s.ID })
	}
	return m.Type.IsDerived() && slices.ContainsFunc(sources, func(s memory.Memory) bool {
		return isGone(s) && s.UpdatedAt.After(m.UpdatedAt) && !comesBack(s)
	})
}
