package ingest

import (
	"context"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// show ends the withholding that began when the memories were forgotten.
func (r *restoring) show(ctx context.Context, tx db.UserTx) (*logEdit, error) {
	var l logEdit
	for _, u := range r.undone {
		for _, id := range u.Turns {
			t, err := l.turn(ctx, tx, id)
			if err != nil {
				return nil, err
			}
			if t != nil {
				isThis := func(w memory.Withheld) bool { return w.Statement == u.Statement }
				l.change(t, u.of, slices.DeleteFunc(slices.Clone(t.Withheld), isThis))
			}
		}
	}
	return &l, l.store(ctx, tx)
}

// logEdit changes what is withheld of turns.
type logEdit struct {
	turns   []*memory.Turn // as they are to be stored
	before  []memory.Turn
	missing []string // ids of turns that do not exist
	title   string   // of the conversation of a withdrawn turn
	effects map[string]*logEffects
}

// logEffects are the effects of one memory of the batch.
type logEffects struct {
	events  []LogEffect
	turnIDs []string // of the turns whose text is withheld because of the memory, or shown again
}

func (l *logEdit) of(root string) *logEffects {
	if l.effects == nil {
		l.effects = map[string]*logEffects{}
	}
	if l.effects[root] == nil {
		l.effects[root] = &logEffects{}
	}
	return l.effects[root]
}

// turn returns a turn to be changed, nil if it does not exist.
func (l *logEdit) turn(ctx context.Context, tx db.UserTx, id string) (*memory.Turn, error) {
	if t := l.find(id); t != nil {
		return t, nil
	}
	if id == "" || slices.Contains(l.missing, id) {
		return nil, nil
	}
	t, ok, err := tx.RecordedTurn(ctx, id)
	if err != nil || !ok {
		l.missing = append(l.missing, id)
		return nil, err
	}
	l.turns, l.before = append(l.turns, &t), append(l.before, t)
	return &t, nil
}

// find returns a turn that was read to be changed.
func (l *logEdit) find(id string) *memory.Turn {
	for _, t := range l.turns {
		if t.ID == id {
			return t
		}
	}
	return nil
}

// change sets what is withheld of a turn because of a memory of the batch, and notes the effect.
func (l *logEdit) change(t *memory.Turn, root string, withheld []memory.Withheld) {
	if len(withheld) == len(t.Withheld) {
		return
	}
	effects := l.of(root)
	if !slices.Contains(effects.turnIDs, t.ID) {
		effects.turnIDs = append(effects.turnIDs, t.ID)
	}
	before := t.Readable()
	t.Withheld = withheld
	effects.noteAll(*t, before)
}

// withdraw withdraws a turn that has not changed since it was read. The conversation gets the new title if its title
// came from the turn. errOutdated: the turn has changed, or was deleted.
func (l *logEdit) withdraw(ctx context.Context, tx db.UserTx, read memory.Turn, title string, at time.Time) error {
	t, err := l.turn(ctx, tx, read.ID)
	switch {
	case err != nil:
		return err
	case t == nil || t.Status != read.Status:
		return errOutdated
	case t.Status == memory.TurnWithdrawn:
		return nil
	}
	before := t.Readable()
	l.title = title
	t.Status, t.WithdrawnAt = memory.TurnWithdrawn, at
	l.of("").noteAll(*t, before)
	return nil
}

// isChanged reports whether the turn at index i differs from the turn that was read.
func (l *logEdit) isChanged(i int) bool {
	t, before := l.turns[i], l.before[i]
	return len(t.Withheld) != len(before.Withheld) || t.Status != before.Status
}

// noteAll notes each message of a turn that readers get with another content than before.
func (l *logEffects) noteAll(t memory.Turn, before []memory.Message) {
	for i, m := range t.Readable() {
		if m.Content != before[i].Content {
			l.note(t, i, before[i].Content, m.Content)
		}
	}
}

// note notes that the content of a message has changed. A further change of the same message updates its effect.
func (l *logEffects) note(t memory.Turn, message int, before, after string) {
	e := LogEffect{TurnID: t.ID, ConversationID: t.ConversationID, Message: message}
	if t.FirstEvent > 0 {
		e.Number = t.FirstEvent + int64(message)
	}
	at := slices.IndexFunc(l.events, func(o LogEffect) bool { return o.TurnID == e.TurnID && o.Message == e.Message })
	switch {
	case after == "":
		e.Done = DoneForgotten
	case len(after) < len(before):
		e.Done = DoneShortened
	case before == "" || at >= 0 && l.events[at].Done == DoneRestored:
		e.Done = DoneRestored
	default:
		e.Done = DoneReverted
	}
	if at >= 0 {
		l.events[at] = e
		return
	}
	l.events = append(l.events, e)
}

// store stores the changed turns, and begins the next edition of their conversations.
func (l *logEdit) store(ctx context.Context, tx db.UserTx) error {
	revisions := map[string]db.ConversationRevision{}
	for i, t := range l.turns {
		if !l.isChanged(i) || t.ConversationID == "" || t.FirstEvent == 0 {
			continue
		}
		r, known := revisions[t.ConversationID]
		if !known {
			c, _, err := tx.RecordedConversation(ctx, t.ConversationID)
			if err != nil {
				return err
			}
			r = db.ConversationRevision{From: t.FirstEvent, Title: c.Title, Retitled: c.Title}
		}
		r.From = min(r.From, t.FirstEvent)
		if before := l.before[i]; r.Title == r.Retitled && before.Title() == r.Title {
			r.Retitled = t.Title()
			if t.Status == memory.TurnWithdrawn {
				r.Retitled = l.title
			}
		}
		revisions[t.ConversationID] = r
	}
	for id, r := range revisions {
		if err := tx.ReviseConversation(ctx, id, r); err != nil {
			return err
		}
	}
	for i, t := range l.turns {
		if len(t.Withheld) != len(l.before[i].Withheld) {
			if err := tx.Withhold(ctx, t.ID, t.Withheld); err != nil {
				return err
			}
		}
		if t.Status != l.before[i].Status {
			if err := tx.WithdrawTurn(ctx, t.ID, t.WithdrawnAt); err != nil {
				return err
			}
		}
	}
	return nil
}
