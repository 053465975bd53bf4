package ingest

import (
	"cmp"
	"context"
	"errors"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/ingest/statement"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// Withdrawn is a turn that was taken back, with the effects.
type Withdrawn struct {
	Turn    memory.Turn
	Effects []Effect // on memories, those of the turn included
	Facts   []FactEffect
	Log     []LogEffect
}

// Withdraw takes back a turn of the app, by its id or client id. No reader gets its messages, and its memories are
// forgotten with what was derived from them. Memories that these superseded or were merged into are changed back,
// unless something else has changed them since. Memories that another turn states too stay, and so do pinned ones.
// Repeating it changes nothing. No restore undoes it.
func (s *Service) Withdraw(ctx context.Context, appID, ref string) (done Withdrawn, err error) {
	for range plans {
		if done.Turn, err = s.Records.Turn(ctx, appID, ref); err != nil {
			return done, err
		}
		var w *withdrawal
		if w, err = s.withdrawalOf(ctx, done.Turn); err != nil || w.isEmpty() {
			return done, err
		}
		var more Withdrawn
		if more, err = w.run(ctx, nil); err == nil {
			done.add(more) // and look again: a candidate may have been promoted in the meantime
		} else if !errors.Is(err, errOutdated) {
			return done, err
		}
	}
	return done, err
}

func (d *Withdrawn) add(more Withdrawn) {
	d.Turn = more.Turn
	d.Effects = append(d.Effects, more.Effects...)
	d.Facts = append(d.Facts, more.Facts...)
	d.Log = append(d.Log, more.Log...)
}

// withdrawal takes back a turn.
type withdrawal struct {
	forgetting                 // of what the turn alone states
	gone       []memory.Memory // the memories of the turn that are forgotten, now or before
	before     []memory.Memory // those of them that were forgotten before
	pinned     []memory.Memory
}

// withdrawalOf plans to take back a turn.
func (s *Service) withdrawalOf(ctx context.Context, turn memory.Turn) (*withdrawal, error) {
	w := &withdrawal{forgetting: forgetting{
		Service: s, by: llm.Serving(s.Embedder), owner: turn.Owner, turn: &turn,
	}}
	err := w.plan(ctx)
	return w, err
}

// isEmpty reports whether nothing is left to be done.
func (w *withdrawal) isEmpty() bool {
	return w.turn.Status == memory.TurnWithdrawn && len(w.batch)+len(w.planned)+len(w.before) == 0
}

// run takes the turn back in one transaction, after first, which may be nil.
func (w *withdrawal) run(ctx context.Context, first func(ctx context.Context, tx db.UserTx) error) (
	done Withdrawn, err error,
) {
	var results []Edited
	cause := byAPI
	if w.keepsTurn {
		cause = causeOf(*w.turn)
	}
	err = w.inUserBy(ctx, w.owner, cause, func(ctx context.Context, tx db.UserTx, changes *history.Recorder) (err error) {
		if first != nil {
			if err := first(ctx, tx); err != nil {
				return err
			}
		}
		for _, m := range w.before {
			changes.Note(m.ID, memory.EventForgotten, together{Statement: m.ID, Turn: w.turn.ID})
		}
		results, err = w.change(ctx, tx, changes)
		return err
	})
	if err != nil {
		return done, err
	}
	if w.keepsTurn {
		return done, nil
	}
	done.Turn = *w.log.find(w.turn.ID)
	for _, m := range w.pinned {
		done.Effects = append(done.Effects, Effect{ID: m.ID, Type: m.Type, Done: DoneKept, Why: statement.Said})
	}
	for _, e := range results {
		effect := Effect{ID: e.ID, Type: e.Memory.Type, Done: DoneForgotten, Why: statement.Said}
		done.Effects = append(append(done.Effects, effect), e.Effects...)
		done.Facts, done.Log = append(done.Facts, e.Facts...), append(done.Log, e.Log...)
	}
	done.Effects = append(done.Effects, w.of("").effects...)
	done.Log = append(w.log.of("").events, done.Log...)
	return done, nil
}

// replacedBy plans to take back the turn that another one replaces.
func (s *Service) replacedBy(ctx context.Context, turn memory.Turn) (*withdrawal, error) {
	old, err := s.Records.Turn(ctx, turn.AppID, turn.Replaces)
	switch {
	case memory.IsKind(err, memory.KindNotFound), err == nil && old.Owner != turn.Owner:
		return nil, memory.Errorf(memory.KindNotFound, "the user has no turn %s that could be replaced: leave replaces out",
			turn.Replaces)
	case err != nil:
		return nil, err
	case old.ConversationID != turn.ConversationID:
		return nil, memory.Invalid(memory.Field{Path: "replaces", Message: "names a turn of another conversation"})
	case turn.ClientID != "" && old.ClientID == turn.ClientID:
		return nil, memory.Invalid(memory.Field{
			Path: "replaces", Message: "names the turn itself: give the new turn a new id",
		})
	}
	return s.withdrawalOf(ctx, old)
}

// errKnown rolls back the transaction of a turn that its client has reported before.
var errKnown = errors.New("the turn is known")

// accept takes the turn back, and stores the one that takes its place, in one transaction: see db.Turns.AcceptTurn.
func (w *withdrawal) accept(ctx context.Context, turn memory.Turn, due time.Time, log *db.LogState) (
	stored memory.Turn, fresh bool, err error,
) {
	w.title = cmp.Or(w.title, turn.Title())
	_, err = w.run(ctx, func(ctx context.Context, tx db.UserTx) (err error) {
		stored, fresh, err = tx.AcceptTurn(ctx, turn, due, log)
		if err == nil && !fresh {
			err = errKnown
		}
		return err
	})
	switch {
	case errors.Is(err, errKnown):
		return stored, false, nil
	case err != nil: // the turn was rolled back after it was stored
		return memory.Turn{}, false, err
	}
	return stored, fresh, nil
}
