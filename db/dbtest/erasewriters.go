package dbtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// wantRefused checks that all writes for an owner fail with db.ErrErasing.
func wantRefused(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	for _, turn := range []memory.Turn{
		newTurn(owner, ""), talked(owner, "talk", epoch, "hi"), talked(owner, "new talk", epoch, "hi"),
	} {
		if _, _, err := s.AcceptTurn(t.Context(), turn, epoch, nil); !errors.Is(err, db.ErrErasing) ||
			!memory.IsKind(err, memory.KindConflict) {
			t.Errorf("a turn of a user who is being erased: %v", err)
		}
	}
	scope := memory.Scope{AppID: owner.AppID, Kind: memory.UserScope, ID: owner.UserID}
	if _, err := tryPublish(t, s, scope, "tone", "text"); !errors.Is(err, db.ErrErasing) {
		t.Errorf("an instruction of a user who is being erased: %v", err)
	}
	turns, err := s.ListTurns(t.Context(), db.TurnFilter{
		AppID:  owner.AppID,
		UserID: owner.UserID,
		Status: memory.TurnFailed,
		Limit:  1,
	})
	must(t, err)
	for _, failed := range turns {
		if _, err := s.ReplayTurn(t.Context(), owner.AppID, failed.ID, epoch); !errors.Is(err, db.ErrErasing) {
			t.Errorf("replaying a turn of a user who is being erased: %v", err)
		}
		turn, err := s.Turn(t.Context(), owner.AppID, failed.ID)
		must(t, err)
		wantSame(t, "status of the turn", turn.Status, memory.TurnFailed)
	}
	err = s.InUser(t.Context(), owner, func(context.Context, db.UserTx) error {
		t.Error("the transaction of a user who is being erased runs")
		return nil
	})
	if !errors.Is(err, db.ErrErasing) {
		t.Errorf("a change of a user who is being erased: %v", err)
	}
}

// eraseAgainstWriters checks that an erasure waits for running transactions of
// the user before it sets its mark, and that no writer succeeds after that.
func eraseAgainstWriters(t *testing.T, s db.Store) {
	ctx := t.Context()
	inside, leave := make(chan struct{}), make(chan struct{})
	var group errgroup.Group
	group.Go(func() error {
		return s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
			close(inside)
			<-leave
			return tx.Insert(ctx, []memory.Memory{newMemory(alice, "slow")}, time.Time{})
		})
	})
	<-inside
	marked := make(chan struct{})
	group.Go(func() error {
		defer close(marked)
		begin(t, s, alice)
		memories, err := s.ListMemories(ctx, db.MemoryFilter{Owner: alice, Limit: 10})
		wantSame(t, "memories when the mark is set", len(memories), 1)
		return err
	})
	select {
	case <-marked:
		t.Error("the mark was set while a transaction was running")
	case <-time.After(50 * time.Millisecond):
	}
	close(leave)
	must(t, group.Wait())

	// Another user is erased during many concurrent writes.
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	failed := newTurn(bob, "")
	accepted(t, s, failed)
	must(t, s.FailTurn(ctx, failed.ID, 1, "bad", epoch, nil))
	const writers, rounds = 8, 40
	refused := func(err error) (bool, error) {
		if errors.Is(err, db.ErrErasing) {
			return true, nil
		}
		return false, err
	}
	count := func() (turns, memories, jobs int) {
		for filter := (db.TurnFilter{AppID: "app", UserID: "bob", Limit: memory.MaxPage}); ; {
			found, err := s.ListTurns(ctx, filter)
			must(t, err)
			turns = len(found)
			break
		}
		list, err := s.ListMemories(ctx, db.MemoryFilter{Owner: bob, Limit: memory.MaxPage})
		must(t, err)
		all, err := s.ListJobs(ctx, db.JobFilter{Kinds: []string{work{}.Kind()}, Limit: memory.MaxPage})
		must(t, err)
		return turns, len(list), len(all)
	}
	var writing errgroup.Group
	started := make(chan struct{}, writers*rounds)
	for w := range writers {
		writing.Go(func() error {
			for range rounds {
				var err error
				switch w % 4 {
				case 0:
					err = s.InUser(ctx, bob, func(ctx context.Context, tx db.UserTx) error {
						return tx.Insert(ctx, []memory.Memory{newMemory(bob, "m")}, time.Time{})
					})
				case 1:
					_, err = s.ReplayTurn(ctx, "app", failed.ID, epoch)
				default:
					turn := newTurn(bob, "")
					if w%4 == 3 {
						turn.ConversationID = "talk"
					}
					_, _, err = s.AcceptTurn(ctx, turn, epoch, nil)
				}
				started <- struct{}{}
				if stop, err := refused(err); stop || err != nil {
					return err
				}
			}
			return nil
		})
	}
	for range writers * 2 {
		<-started
	}
	e := begin(t, s, bob)
	turns, memories, jobs := count()
	must(t, writing.Wait())
	turnsAfter, memoriesAfter, jobsAfter := count()
	wantSame(t, "turns, memories and jobs after the mark", []int{turnsAfter, memoriesAfter, jobsAfter},
		[]int{turns, memories, jobs})

	// Turns are renewed and claimed while they are erased.
	waiting, err := s.ListTurns(ctx, db.TurnFilter{AppID: "app", UserID: "bob", Limit: memory.MaxPage})
	must(t, err)
	var race errgroup.Group
	race.Go(func() error {
		for _, turn := range waiting {
			if err := s.RenewTurns(ctx, []string{turn.ID, failed.ID}, after(1000)); err != nil {
				return err
			}
		}
		return nil
	})
	race.Go(func() error {
		for i := range 20 {
			if _, err := s.ClaimTurns(ctx, after(1000+i), after(1000+i), 7); err != nil {
				return err
			}
		}
		return nil
	})
	eraseAll(t, s, e, 5)
	must(t, race.Wait())
	eraseAll(t, s, e, 5)
	_, err = s.EndErasure(ctx, e, after(100), 0)
	must(t, err)
	_, _, left := count()
	wantSame(t, "jobs left", left, 0)
}
