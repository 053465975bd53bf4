package write

import (
	"context"

	"hippocampus/db/history"
	"hippocampus/internal/grounding"
	"hippocampus/internal/memory"
)

// endFacts ends the values on timelines that a superseded memory states, at the time when the memory that contradicts
// it was said. A memory that refines it has the same values.
func (t *transaction) endFacts(
	ctx context.Context, m *memory.Memory, relation memory.RelationKind,
) ([]history.EndedFact, error) {
	if relation != memory.Contradicts || m.Type == memory.TypeMessage || t.insertedBy(m.ID) != nil {
		return nil, nil
	}
	by := t.insertedBy(m.SupersededBy)
	if by == nil {
		found, err := t.tx.Memories(ctx, []string{m.SupersededBy})
		if err != nil || len(found) == 0 {
			return nil, err
		}
		by = &found[0]
	}
	return history.EndFacts(ctx, t.tx, m.ID, by.Said(), "memory "+by.ID+" says otherwise",
		func(memory.Fact) bool { return true })
}

// rewordedDetail is the detail of the event of a memory that was reworded.
type rewordedDetail struct {
	*history.Change
	Ended []history.EndedFact `json:"ended_facts,omitempty"`
}

// endReworded ends the values on timelines that a memory stated before it was reworded, if it does not state them any
// more or denies them.
func (t *transaction) endReworded(ctx context.Context, before, own *memory.Memory) ([]history.EndedFact, error) {
	denies := t.w.denies(before.Content, own.Content)
	return history.EndFacts(ctx, t.tx, own.ID, t.w.Now(), "the memory was changed to say otherwise",
		func(f memory.Fact) bool {
			return (denies || history.IsMissing(f, own.Content)) && !history.IsMissing(f, before.Content)
		})
}

// denies reports whether a later statement ends an earlier one by rules, or says the opposite of it.
func (w *Writer) denies(earlier, later string) bool {
	account := grounding.ReadAccount(grounding.Line{Source: grounding.Source{Text: earlier}})
	return w.outdated(earlier, later, w.changeOf(later)) != "" || account.Opposes(later) != ""
}
