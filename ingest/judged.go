package ingest

import (
	"context"
	"fmt"
	"slices"

	"hippocampus/db/history"
	"hippocampus/ingest/judge"
	"hippocampus/internal/memory"
)

// superseded is the detail of a replacement.
type superseded struct {
	Change   *history.Change     `json:"change"`
	Relation memory.RelationKind `json:"relation"`
	From     string              `json:"from_turn,omitempty"`
	Why      string              `json:"why,omitempty"`
}

// settle applies the decisions about a draft to the memories that have not changed since they
// were judged. The other memories are kept unchanged.
func (w *writing) settle(ctx context.Context, draft memory.Memory, near neighbourhood) (Written, error) {
	rows, err := w.unchanged(ctx, near.judged)
	if err != nil {
		return Written{}, err
	}
	var into *memory.Memory // the memory that the draft is merged into
	var merging judgement
	var replaced, later []judgement
	for _, j := range near.judged {
		m, ok := rows[j.id]
		switch {
		case !ok:
		case j.Decision == judge.Merge:
			into, merging = m, j
		case draft.CreatedAt.Before(m.CreatedAt) && j.Merged == "":
			later = append(later, j)
		default:
			replaced = append(replaced, j)
			draft.Pinned = draft.Pinned || m.Pinned
			draft = j.worded(draft, m.CreatedAt)
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
		if len(near.judged) > 0 || near.note != "" {
			written.Reason = "" // the decisions are the reason
		}
	}
	because := func(format string, args ...any) {
		if written.Reason != "" {
			written.Reason += "; "
		}
		written.Reason += fmt.Sprintf(format, args...)
	}
	for _, j := range replaced {
		because("it %s and replaces memory %s%s", j.Relation, j.id, inBrackets(j.Why))
		if err := w.supersede(ctx, rows[j.id], written.Memory.ID, j.Verdict, draft.SourceTurnID); err != nil {
			return Written{}, err
		}
	}
	for _, j := range later {
		because("memory %s %s and replaces it, since it was said later%s", j.id, j.Relation, inBrackets(j.Why))
	}
	if len(later) > 0 && into == nil {
		j := later[0]
		added := w.inserted[len(w.inserted)-1]
		if err := w.supersede(ctx, added, j.id, j.Verdict, draft.SourceTurnID); err != nil {
			return Written{}, err
		}
		written.Memory = *added
	}
	if near.note != "" {
		because("%s", near.note)
	}
	if written.Reason == "" {
		written.Reason = "what it was judged to replace has changed since"
	}
	written.Reason = memory.Clip(written.Reason, maxReasonRunes)
	return written, nil
}

// maxReasonRunes bounds the reason of a candidate.
const maxReasonRunes = 1000

func inBrackets(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

// unchanged returns the judged memories that have not changed since, with those of this transaction.
func (w *writing) unchanged(ctx context.Context, judged []judgement) (map[string]*memory.Memory, error) {
	rows := map[string]*memory.Memory{}
	if len(judged) == 0 {
		return rows, nil
	}
	before := map[string]judgement{}
	ids := make([]string, len(judged))
	for i, j := range judged {
		ids[i], before[j.id] = j.id, j
	}
	stored, err := w.tx.Memories(ctx, ids)
	if err != nil {
		return nil, err
	}
	consider := func(m *memory.Memory) {
		j, ok := before[m.ID]
		if ok && m.Status == memory.Active && m.Revision == j.revision && m.Content == j.content {
			rows[m.ID] = m
		}
	}
	for i := range stored {
		consider(&stored[i])
	}
	for _, m := range w.inserted {
		consider(m)
	}
	return rows, nil
}

// supersede marks a memory as superseded by a later one. A memory of this transaction is marked
// after it was inserted.
func (w *writing) supersede(
	ctx context.Context, m *memory.Memory, by string, verdict judge.Verdict, turnID string,
) error {
	isNew := slices.Contains(w.inserted, m)
	before := *m
	m.Status, m.SupersededBy = memory.Superseded, by
	w.Note(m.ID, memory.EventSuperseded, superseded{
		Change: history.Diff(before, *m), Relation: verdict.Relation, From: turnID, Why: verdict.Why,
	})
	w.relations = append(w.relations, memory.Relation{
		From: by, To: m.ID, Kind: verdict.Relation, CreatedAt: memory.Instant(w.s.Now()),
	})
	if isNew {
		w.outdated = append(w.outdated, before)
		return nil
	}
	return w.store(ctx, before, m)
}
