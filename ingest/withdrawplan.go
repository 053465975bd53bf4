package ingest

import (
	"cmp"
	"context"
	"slices"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/ingest/statement"
	"hippocampus/internal/memory"
	"hippocampus/scorer/attribute"
)

// plan finds the memories of the turn, the memories that are forgotten with them, and the changes that they made.
func (w *withdrawal) plan(ctx context.Context) error {
	touched, err := w.touched(ctx)
	if err != nil {
		return err
	}
	if err := w.retitle(ctx); err != nil {
		return err
	}
	return w.planMemories(ctx, touched)
}

// planMemories finds which of the memories are forgotten, what is forgotten with them, and what they have changed.
func (w *withdrawal) planMemories(ctx context.Context, touched []memory.Memory) error {
	sources, err := w.Records.Sources(ctx, w.owner, memory.IDs(touched))
	if err != nil {
		return err
	}
	events, err := w.Records.Events(ctx, w.owner, memory.IDs(touched))
	if err != nil {
		return err
	}
	var stay []memory.Memory
	for _, m := range touched {
		isOthers, err := w.isOthers(ctx, m, sources[m.ID], events[m.ID])
		switch {
		case err != nil:
			return err
		case isOthers:
			stay = append(stay, m)
		case m.Pinned && !isGone(m):
			w.pinned = append(w.pinned, m)
		case !isGone(m):
			w.gone, w.batch = append(w.gone, m), append(w.batch, m)
		default:
			w.gone = append(w.gone, m)
			if forgottenIn(events[m.ID]).Turn == "" && !w.keepsTurn {
				w.before = append(w.before, m)
			}
		}
	}
	if !w.keepsTurn {
		if err := w.find(ctx); err != nil {
			return err
		}
	}
	for _, m := range stay {
		if err := w.planReversal(ctx, m, events[m.ID]); err != nil {
			return err
		}
	}
	for _, m := range slices.Concat(w.gone, stay) {
		if err := w.planRevival(ctx, m); err != nil {
			return err
		}
	}
	return w.prepare(ctx)
}

// retitle finds the new title of a conversation whose title came from the turn: the title of what was said next.
func (w *withdrawal) retitle(ctx context.Context) error {
	if w.turn.ConversationID == "" {
		return nil
	}
	const few = 20 // turns; the title of a conversation is a convenience
	later, err := w.Records.ConversationTurns(ctx, w.owner, w.turn.ConversationID, w.turn.LastEvent(), few)
	for _, t := range later {
		w.title = cmp.Or(w.title, t.Title())
	}
	return err
}

// touched returns the memories that were made of the turn, and those that its facts were merged into, in any status.
func (w *withdrawal) touched(ctx context.Context) (touched []memory.Memory, err error) {
	f := db.MemoryFilter{Owner: w.owner}
	f.Since, f.Until = momentOf(*w.turn)
	for m, err := range w.list(ctx, f) {
		if err != nil {
			return nil, err
		}
		if m.SourceTurnID == w.turn.ID {
			touched = append(touched, m)
		}
	}
	candidates, err := w.Records.TurnCandidates(ctx, w.owner.AppID, w.turn.ID)
	if err != nil {
		return nil, err
	}
	return w.heldBy(ctx, touched, candidates)
}

// heldBy adds the memories that the candidates became or were merged into.
func (w *withdrawal) heldBy(ctx context.Context, touched []memory.Memory, candidates []memory.Candidate) (
	[]memory.Memory, error,
) {
	for _, c := range candidates {
		isHeld := func(m memory.Memory) bool { return m.ID == c.MemoryID }
		if c.MemoryID == "" || slices.ContainsFunc(touched, isHeld) {
			continue
		}
		m, err := w.Records.Memory(ctx, w.owner.AppID, c.MemoryID)
		if memory.IsKind(err, memory.KindNotFound) { // it was purged
			continue
		}
		if err != nil {
			return nil, err
		}
		touched = append(touched, m)
	}
	return touched, nil
}

// isOthers reports whether a memory is not the turn's alone: another turn, which was not withdrawn, or a client made it
// or states it too.
func (w *withdrawal) isOthers(ctx context.Context, m memory.Memory, sources []memory.Memory, events []memory.Event) (
	bool, error,
) {
	if m.SourceTurnID == "" {
		return true, nil
	}
	if m.SourceTurnID != w.turn.ID {
		made, err := w.Records.Turn(ctx, w.owner.AppID, m.SourceTurnID)
		if err == nil && w.rescores {
			isStated, err := w.isStated(ctx, made, m.ID)
			if err != nil || isStated {
				return isStated, err
			}
			made.Status = memory.TurnWithdrawn // for what follows
		}
		switch {
		case memory.IsKind(err, memory.KindNotFound): // it was deleted with its conversation
			return true, nil
		case err != nil || made.Status != memory.TurnWithdrawn:
			return true, err
		}
	}
	isMessage := func(s memory.Memory) bool { return s.Type == memory.TypeMessage }
	for _, s := range sources {
		isOther, err := w.isOfOther(ctx, m, s)
		if err != nil || isMessage(s) && isOther {
			return isOther, err
		}
	}
	hasMessage := slices.ContainsFunc(sources, isMessage)
	isOtherMerge := func(e memory.Event) bool {
		return e.Kind == memory.EventMerged && (e.Cause == byAPI || !hasMessage && !isBy(e, w.turn.ID))
	}
	isEdit := func(e memory.Event) bool { return w.keepsTurn && e.Kind == memory.EventUpdated && e.Cause == byAPI }
	isOthers := func(e memory.Event) bool { return isOtherMerge(e) || isEdit(e) }
	return slices.ContainsFunc(events, isOthers), nil
}

// isOfOther reports whether a message that a memory was derived from is of another turn that was not withdrawn. A
// forgotten message could be restored. If the turn is scored again, the other turn must still state the memory.
func (w *withdrawal) isOfOther(ctx context.Context, m, message memory.Memory) (bool, error) {
	if w.rescores && message.SourceTurnID != "" && message.SourceTurnID != w.turn.ID {
		other, err := w.Records.Turn(ctx, w.owner.AppID, message.SourceTurnID)
		if memory.IsKind(err, memory.KindNotFound) { // it was deleted with its conversation
			return true, nil
		}
		if err != nil {
			return false, err
		}
		return w.isStated(ctx, other, m.ID)
	}
	if message.SourceTurnID == w.turn.ID || message.Status != memory.Forgotten {
		return message.SourceTurnID != w.turn.ID, nil
	}
	status, err := w.Records.TurnStatus(ctx, w.owner.AppID, message.SourceTurnID)
	if memory.IsKind(err, memory.KindNotFound) {
		return false, nil
	}
	return err == nil && status != memory.TurnWithdrawn, err
}

// planReversal plans to reverse the turn's changes of a memory of others. It also reverses the changes of turns that
// were withdrawn since, since the turn's change may be based on them.
func (w *withdrawal) planReversal(ctx context.Context, m memory.Memory, events []memory.Event) error {
	if !slices.ContainsFunc(events, w.isChange) {
		return nil
	}
	var gone []memory.Event
	for _, e := range events {
		isGone := w.isChange(e)
		if id := turnOf(e.Cause); id != "" && !isGone {
			status, err := w.Records.TurnStatus(ctx, w.owner.AppID, id)
			if err != nil && !memory.IsKind(err, memory.KindNotFound) {
				return err
			}
			isGone = status == memory.TurnWithdrawn && e.Kind != memory.EventCreated
		}
		if isGone {
			gone = append(gone, e)
		}
	}
	w.planUndo(memory.Memory{}, m, statement.Replaced, func(m *memory.Memory) bool {
		reversed := false
		for _, e := range slices.Backward(gone) {
			reversed = history.Reverse(m, e.Detail) || reversed
		}
		return reversed
	})
	return nil
}

// isChange reports whether an event is a change by the turn of a memory that existed before the turn.
func (w *withdrawal) isChange(e memory.Event) bool {
	return isBy(e, w.turn.ID) && e.Kind != memory.EventCreated
}

// planRevival plans that each memory that by superseded is active or condensed again. Another memory supersedes it
// instead if by has a successor, or if a memory that is active again too was said later and contradicts it. If by is of
// others, the plan is only about what the turn made it supersede.
func (w *withdrawal) planRevival(ctx context.Context, by memory.Memory) error {
	successor := ""
	if w.isGone(by.ID) {
		successor = w.successor(by)
	}
	superseded, err := w.supersededBy(ctx, by)
	if err != nil || len(superseded) == 0 {
		return err
	}
	events, err := w.Records.Events(ctx, w.owner, memory.IDs(superseded))
	if err != nil {
		return err
	}
	for i, m := range superseded {
		next := successor
		claims := attribute.Of(m.Content)
		for _, later := range superseded[:i] {
			if _, contradicted := attribute.Contradicted(claims, attribute.Of(later.Content)); contradicted && next == "" {
				next = later.ID
			}
		}
		w.planUndo(memory.Memory{}, m, statement.Replaced, func(m *memory.Memory) bool {
			if m.Status != memory.Superseded || m.SupersededBy != by.ID {
				return false
			}
			m.SupersededBy = next
			switch {
			case next != "":
			case history.WasCondensed(events[m.ID], by.ID):
				m.Status = memory.Consolidated
			default:
				m.Status = memory.Active
			}
			return true
		})
	}
	return nil
}

// supersededBy returns the memories that by supersedes and that are not of the turn, the latest first. If by is of
// others, it returns only those that the turn made it supersede.
func (w *withdrawal) supersededBy(ctx context.Context, by memory.Memory) (superseded []memory.Memory, err error) {
	relations, err := w.Records.Relations(ctx, w.owner.AppID, by.ID)
	if err != nil && !memory.IsKind(err, memory.KindNotFound) {
		return nil, err
	}
	for _, r := range relations {
		if r.From != by.ID || r.Kind != memory.Contradicts && r.Kind != memory.Refines {
			continue
		}
		m, err := w.Records.Memory(ctx, w.owner.AppID, r.To)
		if err != nil {
			return nil, err
		}
		if m.SupersededBy != by.ID || w.isGone(m.ID) {
			continue
		}
		changed := w.isGone(by.ID)
		if !changed {
			if changed, err = w.hasSuperseded(ctx, m); err != nil {
				return nil, err
			}
		}
		if changed {
			superseded = append(superseded, m)
		}
	}
	slices.SortFunc(superseded, func(a, b memory.Memory) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return superseded, nil
}

// hasSuperseded reports whether the turn superseded a memory.
func (w *withdrawal) hasSuperseded(ctx context.Context, m memory.Memory) (bool, error) {
	events, err := w.Records.Events(ctx, w.owner, []string{m.ID})
	return slices.ContainsFunc(events[m.ID], func(e memory.Event) bool {
		return e.Kind == memory.EventSuperseded && isBy(e, w.turn.ID)
	}), err
}

// successor returns the id of the memory that supersedes a memory of the turn and is not itself of the turn; empty: no
// memory does.
func (w *withdrawal) successor(m memory.Memory) string {
	for range w.gone {
		if m.Status != memory.Superseded {
			return ""
		}
		i := slices.IndexFunc(w.gone, func(o memory.Memory) bool { return o.ID == m.SupersededBy })
		if i < 0 {
			return m.SupersededBy
		}
		m = w.gone[i]
	}
	return ""
}

func (w *withdrawal) isGone(id string) bool {
	return slices.ContainsFunc(w.gone, func(m memory.Memory) bool { return m.ID == id })
}
