package ingest

import (
	"context"
	"slices"

	"hippocampus/ingest/statement"
	"hippocampus/internal/memory"
)

// cut is the content of a message that is to be active again: as said, and without what was forgotten in the meantime.
type cut struct{ said, left string }

// cutForgotten removes from a message that is to be active again the sentences of facts that were taken from it and
// stay forgotten by OfStatement. A message that says nothing else stays as it is.
func (r *restoring) cutForgotten(ctx context.Context, m *memory.Memory) error {
	if m.Type != memory.TypeMessage || m.Status != memory.Active {
		return nil
	}
	relations, err := r.Records.Relations(ctx, r.owner.AppID, m.ID)
	if err != nil {
		return err
	}
	var forgotten, others []string
	for _, relation := range relations {
		if relation.Kind != memory.DerivedFrom || relation.To != m.ID {
			continue
		}
		fact, err := r.Records.Memory(ctx, r.owner.AppID, relation.From)
		if memory.IsKind(err, memory.KindNotFound) { // it was purged
			continue
		}
		if err != nil {
			return err
		}
		goes, err := r.isLeftForgotten(ctx, fact)
		switch {
		case err != nil:
			return err
		case goes && statement.States(m.Content, fact.Content):
			forgotten = append(forgotten, fact.Content)
		case !goes:
			others = append(others, fact.Content)
		}
	}
	// A statement that was made again since is not forgotten.
	forgotten = slices.DeleteFunc(forgotten, func(f string) bool { return slices.Contains(others, f) })
	if len(forgotten) == 0 {
		return nil
	}
	if left := statement.Without(m.Content, forgotten, others); left != "" {
		if r.cuts == nil {
			r.cuts = map[string]cut{}
		}
		r.cuts[m.ID] = cut{said: m.Content, left: left}
		m.Content = left
	}
	return nil
}

// isLeftForgotten reports whether a fact was forgotten by OfStatement and is not to be restored.
func (r *restoring) isLeftForgotten(ctx context.Context, fact memory.Memory) (bool, error) {
	isRestored := func(m memory.Memory) bool { return m.ID == fact.ID }
	isReversed := func(c reversal) bool { return c.id == fact.ID }
	if fact.Status != memory.Forgotten || fact.Faded ||
		slices.ContainsFunc(r.batch, isRestored) || slices.ContainsFunc(r.reversals, isReversed) {
		return false, nil
	}
	events, err := r.Records.Events(ctx, r.owner, []string{fact.ID})
	return forgottenIn(events[fact.ID]).Statement != "", err
}

// applyCut cuts a message that has not changed since it was read.
func (r *restoring) applyCut(m *memory.Memory) {
	if c, ok := r.cuts[m.ID]; ok && m.Status == memory.Active && m.Content == c.said {
		m.Content = c.left
	}
}
