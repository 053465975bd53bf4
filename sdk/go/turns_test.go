package hippocampus_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/uuid"

	hippocampus "hippocampus/sdk/go"
	"hippocampus/sdk/go/api"
)

// stated returns what a user's active memories of a type other than message state, in order.
func stated(t *testing.T, client *hippocampus.Client, user string) []string {
	t.Helper()
	found := []string{}
	for memory, err := range client.Memories(t.Context(), hippocampus.ListMemoriesParams{UserID: user}) {
		if err != nil {
			t.Fatal(err)
		}
		if memory.Type != api.MemoryTypeMessage {
			found = append(found, memory.Content)
		}
	}
	slices.Sort(found)
	return found
}

func TestClient_WithdrawsAndReplacesTurns(t *testing.T) {
	t.Parallel()
	client, ctx, user := newClient(t), t.Context(), uuid.NewString()
	say := func(text string, replaces *string) *hippocampus.Turn {
		turn, err := client.AddTurn(ctx, hippocampus.TurnRequest{
			UserID: user, ConversationID: &user, Wait: new(true), Replaces: replaces,
			Messages: []hippocampus.Message{hippocampus.UserMessage(text)},
		})
		if err != nil {
			t.Fatal(err)
		}
		return turn
	}
	first := say("I live in Lisbon.", nil)
	edited := say("I live in Porto.", &first.ID)
	if got := stated(t, client, user); !slices.Equal(got, []string{"I live in Porto."}) {
		t.Errorf("after the edit the memories are %v", got)
	}
	withdrawn, err := client.WithdrawTurn(ctx, edited.ID)
	if err != nil || withdrawn.Status != api.TurnStatusWithdrawn || len(withdrawn.Effects) == 0 {
		t.Fatal(withdrawn, err)
	}
	if got := stated(t, client, user); len(got) != 0 {
		t.Errorf("after the withdrawal the memories are %v", got)
	}
	if _, err := client.ReplayTurn(ctx, edited.ID); !errors.Is(err, hippocampus.KindConflict) {
		t.Errorf("replaying a withdrawn turn gives %v", err)
	}
}

func TestClient_ShowsRenamesAndDeletesAConversation(t *testing.T) {
	t.Parallel()
	client, ctx, user := newClient(t), t.Context(), uuid.NewString()
	id, texts := "c/1 "+user, []string{"I live in Lisbon.", "I prefer green tea.", "I work as a marine biologist."}
	for _, text := range texts {
		_, err := client.AddTurn(ctx, hippocampus.TurnRequest{
			UserID: user, ConversationID: &id, Wait: new(true),
			Messages: []hippocampus.Message{hippocampus.UserMessage(text)},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	pages, shown := hippocampus.GetConversationParams{UserID: &user, Limit: new(2)}, []string{}
	for turn, err := range client.ConversationTurns(ctx, id, pages) {
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, turn.Messages[0].Content)
	}
	if !slices.Equal(shown, texts) {
		t.Errorf("the conversation has %v", shown)
	}
	named, err := client.RenameConversation(ctx, id, "Tea", hippocampus.UpdateConversationParams{UserID: &user})
	if err != nil || named.Title != "Tea" {
		t.Errorf("the renamed conversation is %+v, %v", named, err)
	}
	set, err := client.SetConversation(ctx, user, id, hippocampus.ConversationRequest{Memory: "read"})
	if err != nil || set.Memory != "read" {
		t.Errorf("%v, %+v", err, set)
	}
	deleted, err := client.DeleteConversation(ctx, id, hippocampus.DeleteConversationParams{
		UserID: &user, Memories: new(api.DeleteConversationParamsMemoriesForget),
	})
	if err != nil || deleted.Turns != len(texts) {
		t.Errorf("the deletion is %+v, %v", deleted, err)
	}
	if got := stated(t, client, user); len(got) != 0 {
		t.Errorf("after the deletion the memories are %v", got)
	}
}

func TestClient_ForgetsAMemoryWithoutWhatStatesTheSame(t *testing.T) {
	t.Parallel()
	client, ctx, user := newClient(t), t.Context(), uuid.NewString()
	turn, err := client.AddTurn(ctx, hippocampus.TurnRequest{
		UserID: user, Wait: new(true), Messages: []hippocampus.Message{hippocampus.UserMessage("I live in Lisbon.")},
	})
	if err != nil || len(turn.Candidates) != 1 {
		t.Fatal(turn, err)
	}
	id, alone := *turn.Candidates[0].MemoryID, api.ForgettingScopeItem
	before, err := client.Memory(ctx, id, hippocampus.GetMemoryParams{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Forget(ctx, id, hippocampus.ForgetMemoryParams{Scope: &alone}); err != nil {
		t.Fatal(err)
	}
	for memory, err := range client.Memories(ctx, hippocampus.ListMemoriesParams{UserID: user}) {
		if err != nil || memory.Type != api.MemoryTypeMessage {
			t.Errorf("the memories have %+v, %v", memory, err)
		}
	}
	past, err := client.Memory(ctx, id, hippocampus.GetMemoryParams{AsOf: &before.UpdatedAt})
	if err != nil || past.Status != api.MemoryStatusActive {
		t.Errorf("before that the memory is %+v, %v", past, err)
	}
	if _, err := client.Restore(ctx, id, hippocampus.RestoreMemoryParams{Scope: &alone}); err != nil {
		t.Error(err)
	}
	if got := stated(t, client, user); !slices.Equal(got, []string{"I live in Lisbon."}) {
		t.Errorf("after restoring it the memories are %v", got)
	}
}
