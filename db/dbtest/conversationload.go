package dbtest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// loadConversations is Load for conversations: 10 with two turns each.
func loadConversations(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	for i := range 20 {
		say(t, s, talked(owner, fmt.Sprint("talk ", i%10), after(i), "one", "two"))
	}
}

// exerciseConversations is Exercise for db.Conversations.
func exerciseConversations(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	ctx := t.Context()
	turn := talked(owner, "talk 1", after(99), "more")
	turn.ClientID = "exercise"
	say(t, s, turn)
	_, _, err := s.AcceptTurn(ctx, talked(owner, "talk 1", after(99), "more"), after(60), nil)
	must(t, err)
	_, err = s.Conversation(ctx, owner.AppID, "", "talk none")
	wantKind(t, err, memory.KindNotFound)
	for _, f := range []db.ConversationFilter{
		{},
		{State: db.ConversationOpen},
		{State: db.ConversationEnded},
		{Before: &db.Position{At: after(50), ID: "x"}},
	} {
		f.Owner, f.Limit = owner, 5
		_, err := s.ListConversations(ctx, f)
		must(t, err)
	}
	_, err = s.ConversationTurns(ctx, owner, "talk 1", 1, 10)
	must(t, err)
	_, err = s.Idle(ctx, after(1), 10)
	must(t, err)
	_, err = s.SetTitle(ctx, owner, "talk 1", "title")
	must(t, err)
	c := conversation(t, s, owner, "talk 1")
	next := c
	next.Summary, next.SummarisedThrough = "summary", 1
	must(t, s.Summarise(ctx, c, next))
	_, _, err = s.EndConversation(ctx, conversation(t, s, owner, "talk 1"), epoch, "client")
	must(t, err)
	_, err = s.DeleteConversation(ctx, owner, "talk 1")
	must(t, err)
}

// everyConversation calls each method of db.Conversations and returns their errors.
func everyConversation(ctx context.Context, s db.Store) map[string]error {
	errs := map[string]error{}
	c := memory.Conversation{Owner: alice, ID: "c", FirstTurnID: memory.NewID()}
	_, _, errs["AcceptTurn in a conversation"] = s.AcceptTurn(ctx, talked(alice, "every", epoch, "hi"), epoch, nil)
	_, errs["Conversation"] = s.Conversation(ctx, "app", "alice", "c")
	_, errs["ListConversations"] = s.ListConversations(ctx, db.ConversationFilter{Owner: alice, Limit: 1})
	_, errs["ConversationTurns"] = s.ConversationTurns(ctx, alice, "c", 0, 1)
	_, errs["Idle"] = s.Idle(ctx, epoch, 1)
	_, errs["SetTitle"] = s.SetTitle(ctx, alice, "c", "title")
	_, _, errs["EndConversation"] = s.EndConversation(ctx, memory.Conversation{
		Owner:       alice,
		ID:          "c",
		FirstTurnID: memory.NewID(),
	}, epoch, "reason")
	errs["Summarise"] = s.Summarise(ctx, c, c)
	_, errs["DeleteConversation"] = s.DeleteConversation(ctx, alice, "c")
	return errs
}

// UpgradeConversations checks what the seventh migration makes of existing turns.
// s has the schema before it; insert stores a turn in that schema.
func UpgradeConversations(t *testing.T, s db.Store, insert func(turn memory.Turn, messages string) error) {
	t.Helper()
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	var turns []memory.Turn
	for i, n := range []int{2, 1, 3} { // At decreases
		turn := talked(alice, "c", after(i), strings.Fields(strings.Repeat("x ", n))...)
		turn.At = after(-i)
		turns = append(turns, turn)
	}
	turns = append(turns, talked(bob, "c", after(1), "hi"), newTurn(alice, ""))
	for i := len(turns) - 1; i >= 0; i-- {
		var parts []string
		for _, m := range turns[i].Messages {
			parts = append(parts, fmt.Sprintf(`{"role":"user","content":%q}`, m.Content))
		}
		must(t, insert(turns[i], "["+strings.Join(parts, ",")+"]"))
	}
	must(t, s.Migrate(t.Context()))
	wantActive(t, s, alice, db.ActiveDays{"": {day}})
	c := conversation(t, s, alice, "c")
	wantSame(t, "alice's conversation", c, memory.Conversation{
		Owner:            alice,
		ID:               "c",
		FirstTurnID:      turns[0].ID,
		Turns:            3,
		Events:           6,
		Tokens:           c.Tokens,
		SummarisedTokens: c.Tokens,
		StartedAt:        after(-2),
		LastAt:           epoch,
		EndedAt:          after(2),
		EndReason:        "idle", // so that no model has to read all old turns
	})
	if c.Tokens < 20 || c.Tokens > 60 { // six messages of some 30 bytes
		t.Errorf("%d tokens", c.Tokens)
	}
	wantSame(t, "bob's conversation", conversation(t, s, bob, "c").FirstTurnID, turns[3].ID)
	log, err := s.ConversationTurns(t.Context(), alice, "c", 2, 10)
	must(t, err)
	var got []string
	for _, turn := range log {
		got = append(got, fmt.Sprint(turn.ID, turn.FirstEvent))
	}
	wantSame(t, "the log after event 2", got, []string{turns[1].ID + "3", turns[2].ID + "4"})
	wantSame(t, "the next turn", say(t, s, talked(alice, "c", after(9), "on")).FirstEvent, int64(7))
	loose, err := s.Turn(t.Context(), "app", turns[4].ID)
	must(t, err)
	wantSame(t, "a turn without a conversation", loose.FirstEvent, int64(0))
}
