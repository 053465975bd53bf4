package ingest

import (
	"context"
	"encoding/json"
	"slices"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Restore makes a memory of the app active again, as if just accessed, and re-embeds it if the embedding model has
// changed. With OfStatement it undoes all changes that were made when the memory was forgotten, except for changes of
// memories that something else has changed since. Restoring an active memory changes nothing. KindConflict: the memory
// was forgotten with a withdrawn turn.
func (s *Service) Restore(ctx context.Context, appID, id string, scope Scope) (Edited, error) {
	e := s.RestoreAll(ctx, appID, []string{id}, scope)[0]
	return e, e.Err
}

// RestoreAll is Restore for many memories of the app, of any users. It returns a result for each id, in the same order.
// An error of one id does not affect the others, except for those in the same batch of one user, which fail as a whole.
func (s *Service) RestoreAll(ctx context.Context, appID string, ids []string, scope Scope) []Edited {
	restore := func(ctx context.Context, owner memory.Owner, batch []memory.Memory) ([]Edited, error) {
		r := &restoring{Service: s, by: llm.Serving(s.Embedder), owner: owner, batch: batch}
		refused, err := r.refuseWithdrawn(ctx)
		if err != nil {
			return nil, err
		}
		if err := r.plan(ctx, scope); err != nil {
			return nil, err
		}
		results, err := r.run(ctx)
		return append(results, refused...), err
	}
	return s.editAll(ctx, appID, ids, restore)
}

// restoring makes memories of one owner active again, with what was forgotten with them.
type restoring struct {
	*Service
	by         llm.Embedder
	owner      memory.Owner
	batch      []memory.Memory
	undone     []undoing
	reversals  []reversal
	embeddings map[string][]float32 // by id, of the memories that must be embedded again
	cuts       map[string]cut       // by id of the message
	facts      []memory.Memory      // that are to be active again after they were forgotten
}

// reversal undoes an event of a memory that was changed because another one was forgotten.
type reversal struct {
	id     string
	of     string // id of the memory of the batch with which it was forgotten
	detail json.RawMessage
	into   []string // ids of the memories that it was condensed into, if it was
}

// undoing is a forgetting that is undone.
type undoing struct {
	together
	of string // id of the memory of the batch with which it was forgotten
}

// refuseWithdrawn removes from the batch the memories that were forgotten with a withdrawn turn.
func (r *restoring) refuseWithdrawn(ctx context.Context) (refused []Edited, err error) {
	isForgotten := func(m memory.Memory) bool { return m.Status == memory.Forgotten }
	if !slices.ContainsFunc(r.batch, isForgotten) {
		return nil, nil
	}
	events, err := r.Records.Events(ctx, r.owner, memory.IDs(r.batch))
	if err != nil {
		return nil, err
	}
	r.batch = slices.DeleteFunc(slices.Clone(r.batch), func(m memory.Memory) bool {
		turn := forgottenIn(events[m.ID]).Turn
		if !isForgotten(m) || turn == "" {
			return false
		}
		refused = append(refused, Edited{Memory: m, Err: memory.Errorf(memory.KindConflict,
			"memory %s went with turn %s, which was withdrawn: report what was said in a new turn", m.ID, turn)})
		return true
	})
	return refused, nil
}

// plan finds the events to undo. It embeds memories that will have another text than their embedding, or that will be
// active and have an embedding by another model.
func (r *restoring) plan(ctx context.Context, scope Scope) error {
	var ids, texts []string
	embed := func(before, after *memory.Memory) {
		if before.EmbeddedText() != after.EmbeddedText() ||
			after.Status == memory.Active && before.EmbeddingModel != r.by.Model() {
			ids, texts = append(ids, after.ID), append(texts, after.EmbeddedText())
		}
	}
	if scope != OfItem {
		if err := r.findReversals(ctx); err != nil {
			return err
		}
	}
	for _, before := range r.batch {
		if before.Status != memory.Active {
			after := before
			after.Status = memory.Active
			if err := r.cutForgotten(ctx, &after); err != nil {
				return err
			}
			embed(&before, &after)
			r.noteFact(before, after)
		}
	}
	sources, err := r.sourcesOfReversals(ctx)
	if err != nil {
		return err
	}
	var left []reversal
	for _, change := range r.reversals {
		m, err := r.Records.Memory(ctx, r.owner.AppID, change.id)
		if memory.IsKind(err, memory.KindNotFound) { // it was purged
			continue
		}
		if err != nil {
			return err
		}
		if r.statesWhatIsGone(m, sources[m.ID]) {
			continue
		}
		left = append(left, change)
		before := m
		if history.Reverse(&m, change.detail) {
			if err := r.cutForgotten(ctx, &m); err != nil {
				return err
			}
			embed(&before, &m)
			r.noteFact(before, m)
		}
	}
	r.reversals = left
	if len(texts) == 0 {
		return nil
	}
	vectors, err := llm.EmbedDocuments(ctx, r.by, texts)
	if err != nil {
		return err
	}
	r.embeddings = make(map[string][]float32, len(ids))
	for i, id := range ids {
		r.embeddings[id] = vectors[i]
	}
	return nil
}

// findReversals finds what was changed when the memories of the batch were forgotten.
func (r *restoring) findReversals(ctx context.Context) error {
	ids := memory.IDs(r.batch)
	events, err := r.Records.Events(ctx, r.owner, ids)
	if err != nil {
		return err
	}
	of := map[string]string{} // id of the memory of the batch, by the id of its statement
	var statements []string
	for _, m := range r.batch {
		id := forgottenIn(events[m.ID]).Statement
		if m.Status == memory.Forgotten && id != "" && of[id] == "" {
			of[id], statements = m.ID, append(statements, id)
		}
	}
	if events, err = r.Records.Events(ctx, r.owner, statements); err != nil {
		return err
	}
	type member struct{ id, statement string }
	var members []member
	for _, id := range statements {
		forgotten := forgettingIn(events[id])
		r.undone = append(r.undone, undoing{together: forgotten, of: of[id]})
		for _, other := range append([]string{id}, forgotten.Also...) {
			if !slices.Contains(ids, other) {
				members = append(members, member{id: other, statement: id})
			}
		}
	}
	others := make([]string, len(members))
	for i, m := range members {
		others[i] = m.id
	}
	if events, err = r.Records.Events(ctx, r.owner, others); err != nil {
		return err
	}
	for _, m := range members {
		if forgottenIn(events[m.id]).Turn != "" {
			continue
		}
		for _, e := range slices.Backward(events[m.id]) {
			if togetherIn(e).Statement == m.statement {
				r.reversals = append(r.reversals, reversal{
					id: m.id, of: of[m.statement], detail: e.Detail, into: condensedInto(events[m.id]),
				})
				break
			}
		}
	}
	return nil
}

// forgottenIn returns the detail of the latest event by which a memory was forgotten; zero if it was forgotten alone.
func forgottenIn(events []memory.Event) together {
	for _, e := range slices.Backward(events) {
		if e.Kind == memory.EventForgotten {
			return togetherIn(e)
		}
	}
	return together{}
}

// forgettingIn returns the detail of the latest event by which a memory was forgotten at a request; zero if it was
// forgotten alone. The turn of the memory may have been withdrawn since.
func forgettingIn(events []memory.Event) together {
	for _, e := range slices.Backward(events) {
		if detail := togetherIn(e); e.Kind == memory.EventForgotten && detail.Turn == "" {
			return detail
		}
	}
	return together{}
}

func togetherIn(e memory.Event) (detail together) {
	if json.Unmarshal(e.Detail, &detail) != nil {
		return together{}
	}
	return detail
}

// run restores the memories in one transaction.
func (r *restoring) run(ctx context.Context) (results []Edited, err error) {
	settle, err := r.Writer.Restored(ctx, r.owner, r.facts, true)
	if err != nil {
		return nil, err
	}
	err = r.inUser(ctx, r.owner, func(ctx context.Context, tx db.UserTx, changes *history.Recorder) error {
		effects := map[string][]Effect{} // by the id of the memory of the batch
		ids := make([]string, len(r.reversals))
		for i, change := range r.reversals {
			ids[i] = change.id
		}
		found, err := tx.Memories(ctx, ids)
		if err != nil {
			return err
		}
		for _, change := range r.reversals {
			i := slices.IndexFunc(found, func(m memory.Memory) bool { return m.ID == change.id })
			if i < 0 {
				continue
			}
			m := &found[i]
			before := *m
			if !history.Reverse(m, change.detail) {
				continue
			}
			r.applyCut(m)
			done := DoneReverted
			if before.Status == memory.Forgotten && m.Status != memory.Forgotten {
				done = DoneRestored
			}
			effects[change.of] = append(effects[change.of], Effect{ID: m.ID, Type: m.Type, Done: done})
			if err := r.store(ctx, changes, before, m, change.into); err != nil {
				return err
			}
		}
		batch, err := tx.Memories(ctx, memory.IDs(r.batch))
		if err != nil {
			return err
		}
		log, err := r.show(ctx, tx)
		if err != nil {
			return err
		}
		facts, err := r.restoreFacts(ctx, tx)
		if err != nil {
			return err
		}
		results = results[:0]
		restored := found
		for i := range batch {
			m := &batch[i]
			before := *m
			m.Status, m.SupersededBy = memory.Active, ""
			m.Faded = false
			r.applyCut(m)
			if err := r.store(ctx, changes, before, m, nil); err != nil {
				return err
			}
			restored = append(restored, *m)
			m.Embedding = nil
			results = append(results, Edited{
				ID: m.ID, Memory: *m, Effects: effects[m.ID], Facts: facts[m.ID], Log: log.of(m.ID).events,
			})
		}
		if err := r.settle(ctx, tx, changes, settle, restored, results); err != nil {
			return err
		}
		settled, err := settledEffects(ctx, changes)
		if len(results) > 0 {
			results[0].Effects = append(results[0].Effects, settled...)
		}
		return err
	})
	return results, err
}

// store stores a memory that was changed back. into are the ids of the memories that it was condensed into before.
func (r *restoring) store(
	ctx context.Context, changes *history.Recorder, before memory.Memory, m *memory.Memory, into []string,
) error {
	difference := history.Diff(before, *m)
	if difference == nil {
		return nil
	}
	if m.IndexedText() != before.IndexedText() {
		m.Lexemes = text.Join(text.Lexemes(m.IndexedText()))
	}
	if before.Status != memory.Active && m.Status == memory.Active {
		m.LastAccessedAt = memory.Instant(r.Now())
	}
	if embedding := r.embeddings[m.ID]; embedding != nil {
		m.Embed(embedding, r.by.Model())
	}
	var detail any = difference
	kind := kindOf(before, *m)
	if kind == memory.EventConsolidated {
		detail = condensed{Change: difference, Into: into}
	}
	changes.Note(m.ID, kind, detail)
	return changes.Update(ctx, before, m)
}
