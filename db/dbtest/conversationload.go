package dbtest

import (
	"context"
	"fmt"
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
