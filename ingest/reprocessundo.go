package ingest

import (
	"context"
	"slices"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/ingest/statement"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// byUndo is the cause of the changes of an undo.
const byUndo = "reprocessing undone"

// stepUndo makes the turn of a run that was said last what it was before, or ends the undo.
func (s *Service) stepUndo(ctx context.Context, r memory.Reprocessing) (done bool, err error) {
	turns, err := s.Records.ReprocessedTurns(ctx, r.ID, 1)
	if err != nil {
		return false, err
	}
	to := r
	to.Note = ""
	if len(turns) == 0 {
		to.State, to.EndedAt = memory.ReprocessingUndone, memory.Instant(s.Now())
		return true, s.Records.AdvanceReprocessing(ctx, r, to)
	}
	t := turns[0]
	to.Place = memory.TurnPlace{UserID: t.UserID, At: t.At, TurnID: t.TurnID}
	to.Counts.Undone++
	return false, s.undoTurn(ctx, r, to, t)
}

// reverting is a memory that is changed back.
type reverting struct {
	events    []memory.Event // of the run
	isNew     bool           // the run has added it
	stays     bool           // something else states it by now, or the user has decided about it
	embedding []float32      // of its former text; nil: that has not changed
}

// apply changes a memory back. It reports false if something else has changed it since.
func (r reverting) apply(m *memory.Memory) (changed bool) {
	if r.isNew {
		if !r.stays && !isGone(*m) {
			_ = forget(m)
			changed = true
		}
		return changed
	}
	for _, e := range slices.Backward(r.events) {
		changed = history.Reverse(m, e.Detail) || changed
	}
	return changed
}

// undoTurn makes a turn what it was before a run has scored it again. Memories that something else has changed since
// stay as they are.
func (s *Service) undoTurn(ctx context.Context, from, to memory.Reprocessing, t memory.ReprocessedTurn) error {
	by := llm.Serving(s.Embedder)
	plans, revived, err := s.planUndoTurn(ctx, t, by)
	if err != nil {
		return err
	}
	settle, err := s.Writer.Restored(ctx, t.Owner, revived, true)
	if err != nil {
		return err
	}
	return s.inUserBy(ctx, t.Owner, byUndo, func(ctx context.Context, tx db.UserTx, changes *history.Recorder) error {
		if err := tx.AdvanceReprocessing(ctx, from, to); err != nil {
			return err
		}
		memories, err := tx.Memories(ctx, t.Before.Memories)
		if err != nil {
			return err
		}
		var facts []memory.Memory
		for i := range memories {
			m := &memories[i]
			before := *m
			plan := plans[m.ID]
			if !plan.apply(m) {
				continue
			}
			if m.IndexedText() != before.IndexedText() {
				m.Lexemes = text.Join(text.Lexemes(m.IndexedText()))
			}
			if plan.embedding != nil {
				m.Embed(plan.embedding, by.Model())
			}
			kind := kindOf(before, *m)
			if m.Status == memory.Forgotten {
				kind = memory.EventForgotten
			}
			changes.Note(m.ID, kind, history.Diff(before, *m))
			if err := changes.Update(ctx, before, m); err != nil {
				return err
			}
			if slices.ContainsFunc(revived, func(r memory.Memory) bool { return r.ID == m.ID }) {
				facts = append(facts, *m)
			}
		}
		if len(facts) > 0 {
			if err := settle(ctx, tx, changes, facts); err != nil {
				return err
			}
		}
		return restoreTurn(ctx, tx, t)
	})
}

// planUndoTurn plans how the memories of a turn are changed back. revived are those that are active again although what
// took their place was superseded since: they must be compared.
func (s *Service) planUndoTurn(ctx context.Context, t memory.ReprocessedTurn, by llm.Embedder) (
	plans map[string]reverting, revived []memory.Memory, err error,
) {
	ids := t.Before.Memories
	events, err := s.Records.Events(ctx, t.Owner, ids)
	if err != nil {
		return nil, nil, err
	}
	sources, err := s.Records.Sources(ctx, t.Owner, ids)
	if err != nil {
		return nil, nil, err
	}
	w := &withdrawal{forgetting: forgetting{
		Service: s, by: by, owner: t.Owner, turn: &memory.Turn{ID: t.TurnID, Owner: t.Owner}, keepsTurn: true, rescores: true,
	}}
	gone, err := s.goneSince(ctx, t, events)
	if err != nil {
		return nil, nil, err
	}
	cause := causeOf(*w.turn) + scoring + t.RunID
	plans = map[string]reverting{}
	var texts, embedded []string
	moved := false // what the run added was superseded since
	var active []memory.Memory
	for _, id := range ids {
		m, err := s.Records.Memory(ctx, t.AppID, id)
		if memory.IsKind(err, memory.KindNotFound) { // it was purged
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		var p reverting
		for _, e := range events[id] {
			if e.Cause == cause {
				p.events = append(p.events, e)
				p.isNew = p.isNew || e.Kind == memory.EventCreated
			}
		}
		if p.isNew {
			if p.stays = m.Pinned || slices.ContainsFunc(events[id], isUsers); !p.stays {
				if p.stays, err = w.isOthers(ctx, m, sources[id], events[id]); err != nil {
					return nil, nil, err
				}
			}
			moved = moved || m.Status == memory.Superseded
		}
		after := m
		if gone.hides(m) && p.apply(&after) && after.Status != memory.Forgotten {
			continue
		}
		after = m
		if p.apply(&after) && after.Status == memory.Active {
			if after.EmbeddedText() != m.EmbeddedText() || m.EmbeddingModel != by.Model() {
				texts, embedded = append(texts, after.EmbeddedText()), append(embedded, id)
			}
			if isRevived(m, after) {
				active = append(active, after)
			}
		}
		plans[id] = p
	}
	if moved {
		revived = active
	}
	if len(texts) == 0 {
		return plans, revived, nil
	}
	vectors, err := llm.EmbedDocuments(ctx, by, texts)
	for i := range vectors {
		p := plans[embedded[i]]
		p.embedding = vectors[i]
		plans[embedded[i]] = p
	}
	return plans, revived, err
}

// goneSince is what must not come back of a turn that was scored again.
type goneSince struct {
	all   bool     // the turn was withdrawn
	texts []string // that the user has forgotten
}

// hides reports whether a forgotten memory must stay forgotten.
func (g goneSince) hides(m memory.Memory) bool {
	isGoneText := func(text string) bool { return statement.IsIn(m.Content, text) || statement.States(text, m.Content) }
	return m.Status == memory.Forgotten && (g.all || slices.ContainsFunc(g.texts, isGoneText))
}

// goneSince reads what the user has withdrawn or forgotten of a turn.
func (s *Service) goneSince(ctx context.Context, t memory.ReprocessedTurn, events map[string][]memory.Event) (
	gone goneSince, err error,
) {
	turn, err := s.Records.Turn(ctx, t.AppID, t.TurnID)
	if memory.IsKind(err, memory.KindNotFound) || err == nil && turn.Status == memory.TurnWithdrawn {
		return goneSince{all: true}, nil
	}
	if err != nil {
		return gone, err
	}
	for _, w := range turn.Withheld {
		if w.Statement != "" {
			gone.texts = append(gone.texts, w.Text)
		}
	}
	for id, of := range events {
		if !isUsers(forgettingOf(of)) {
			continue
		}
		m, err := s.Records.Memory(ctx, t.AppID, id)
		if err != nil && !memory.IsKind(err, memory.KindNotFound) {
			return gone, err
		}
		if err == nil && isGone(m) {
			gone.texts = append(gone.texts, m.Content)
		}
	}
	return gone, nil
}

// restoreTurn gives a turn its former candidates back.
func restoreTurn(ctx context.Context, tx db.UserTx, t memory.ReprocessedTurn) error {
	_, found, err := tx.RecordedTurn(ctx, t.TurnID)
	if err == nil && found && t.Written {
		if err = tx.DropCandidates(ctx, t.TurnID, t.Before.New); err == nil {
			err = tx.AddCandidates(ctx, t.Before.Candidates)
		}
		if err == nil {
			err = tx.NoteScoring(ctx, t.TurnID, t.Before.Scored)
		}
	}
	if err != nil {
		return err
	}
	return tx.RemoveReprocessed(ctx, t)
}
