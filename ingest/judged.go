package ingest

import (
	"context"
	"fmt"

	"hippocampus/db/history"
	"hippocampus/ingest/judge"
	"hippocampus/internal/memory"
)

// superseded is the detail of a replacement.
type superseded struct {
	Change   *history.Change     `json:"change"`
	Relation memory.RelationKind `json:"relation"`
	From     string              `json:"from_turn,omitempty"`
}

// settle applies the judge's decisions about a draft to the memories that have not changed
// since they were judged. The other memories are kept unchanged.
func (w *writing) settle(ctx context.Context, draft memory.Memory, judged []judgement) (Written, error) {
	if len(judged) == 0 {
		return w.add(draft), nil
	}
	rows, err := w.unchanged(ctx, judged)
	if err != nil {
		return Written{}, err
	}
	var into *memory.Memory // the memory that the draft is merged into
	var merging judgement
	var replaced []judgement
	for _, j := range judged {
		m, ok := rows[j.id]
		switch {
		case !ok:
		case j.Decision == judge.Merge:
			into, merging = m, j
		default:
			replaced = append(replaced, j)
			draft.Pinned = draft.Pinned || m.Pinned
		}
	}
	var written Written
	if into != nil {
		similarity := likeness(into, &draft)
		written, err = w.merge(ctx, into, merging.worded(draft, into.CreatedAt), similarity, memory.Merged,
			fmt.Sprintf("similarity %.3f to an active memory, and judged to say the same", similarity))
		if err != nil {
			return Written{}, err
		}
	} else {
		written = w.add(draft)
	}
	for _, j := range replaced {
		if err := w.supersede(ctx, rows[j.id], written.Memory.ID, j.Relation, draft.SourceTurnID); err != nil {
			return Written{}, err
		}
		written.Reason += fmt.Sprintf("; it %s and replaces memory %s", j.Relation, j.id)
	}
	return written, nil
}

// unchanged reads the judged memories that have not changed since.
func (w *writing) unchanged(ctx context.Context, judged []judgement) (map[string]*memory.Memory, error) {
	revision := map[string]int64{}
	ids := make([]string, len(judged))
	for i, j := range judged {
		ids[i], revision[j.id] = j.id, j.revision
	}
	stored, err := w.tx.Memories(ctx, ids)
	if err != nil {
		return nil, err
	}
	rows := map[string]*memory.Memory{}
	for i, m := range stored {
		if m.Status == memory.Active && m.Revision == revision[m.ID] {
			rows[m.ID] = &stored[i]
		}
	}
	return rows, nil
}

// supersede marks a memory as superseded by a newer one.
func (w *writing) supersede(
	ctx context.Context, m *memory.Memory, by string, relation memory.RelationKind, turnID string,
) error {
	before := *m
	m.Status, m.SupersededBy = memory.Superseded, by
	w.Note(m.ID, memory.EventSuperseded, superseded{history.Diff(before, *m), relation, turnID})
	w.relations = append(w.relations, memory.Relation{
		From: by, To: m.ID, Kind: relation, CreatedAt: memory.Instant(w.s.Now()),
	})
	return w.store(ctx, before, m)
}
