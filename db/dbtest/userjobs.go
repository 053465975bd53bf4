package dbtest

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// jobsOfUsers enqueues jobs that name a user before, during and after an erasure.
func jobsOfUsers(t *testing.T, s db.Store) {
	ctx := t.Context()
	talk := func() memory.Conversation {
		t.Helper()
		turn := newTurn(alice, "")
		turn.ConversationID = "c"
		_, _, err := s.AcceptTurn(ctx, turn, after(60), nil)
		must(t, err)
		c, err := s.Conversation(ctx, alice.AppID, alice.UserID, "c")
		must(t, err)
		return c
	}
	n := 0
	enqueue := func(what string, erased int, c memory.Conversation, want int) {
		t.Helper()
		before := len(jobsOf(t, s))
		for range 2 { // the second time changes nothing
			must(t, s.EnqueueForUser(ctx, alice, erased, aboutUser{alice.AppID, alice.UserID, n}))
			must(t, s.EnqueueForConversation(ctx, c, aboutUser{alice.AppID, alice.UserID, n + 1}))
		}
		n += 2
		wantSame(t, "jobs "+what, len(jobsOf(t, s))-before, want)
	}
	first := talk()
	enqueue("of a user", 0, first, 2)
	_, err := s.DeleteConversation(ctx, alice, "c")
	must(t, err)
	enqueue("after the conversation is deleted", 0, first, 1)
	second := talk()
	enqueue("of a conversation that has begun again", 0, first, 1)

	e := begin(t, s, alice)
	enqueue("of a user who is being erased", 0, second, 0)
	eraseAll(t, s, e, 10)
	_, err = s.EndErasure(ctx, e, after(200), 0)
	must(t, err)
	wantSame(t, "jobs after the erasure", len(jobsOf(t, s)), 0)
	enqueue("of an erased user", 0, second, 0)

	third := talk()
	enqueue("with what was read before the erasure", 0, second, 0)
	enqueue("of a user who is back", 1, third, 2)
}

// jobsOfTransactions enqueues jobs in transactions that commit, roll back, or belong to an erased user.
func jobsOfTransactions(t *testing.T, s db.Store) {
	ctx := t.Context()
	job := aboutUser{AppID: alice.AppID, UserID: alice.UserID}
	gaveUp := errors.New("gave up")
	enqueue := func(result error) error {
		return s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
			must(t, tx.Insert(ctx, []memory.Memory{newMemory(alice, "Likes tea.")}, time.Time{}))
			must(t, tx.Enqueue(ctx, job))
			return result
		})
	}
	wantSame(t, "a transaction ends with its error", errors.Is(enqueue(gaveUp), gaveUp), true)
	wantSame(t, "jobs of a transaction that was rolled back", len(jobsOf(t, s)), 0)
	for range 2 { // the second time changes nothing
		must(t, enqueue(nil))
		list := jobsOf(t, s)
		wantSame(t, "jobs", len(list), 1)
		var stored aboutUser
		must(t, json.Unmarshal(list[0].Payload, &stored))
		wantSame(t, "the payload", stored, job)
	}
	e := begin(t, s, alice)
	wantSame(t, "a user who is being erased is refused", errors.Is(enqueue(nil), db.ErrErasing), true)
	eraseAll(t, s, e, 10)
	_, err := s.EndErasure(ctx, e, after(200), 0)
	must(t, err)
	wantSame(t, "jobs after the erasure", len(jobsOf(t, s)), 0)
}

// jobsOf lists the jobs of the kind aboutUser.
func jobsOf(t *testing.T, s db.Store) []db.JobInfo {
	t.Helper()
	found, err := s.ListJobs(t.Context(), db.JobFilter{Kinds: []string{aboutUser{}.Kind()}, Limit: 100})
	must(t, err)
	return found
}
