package hippocampus_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/uuid"

	hippocampus "hippocampus/sdk/go"
	"hippocampus/sdk/go/api"
)

func TestClient_ChangesAMemory(t *testing.T) {
	t.Parallel()
	client, ctx := newClient(t), t.Context()
	user := remember(t, client, "Likes green tea.")
	var memory hippocampus.Memory
	for found, err := range client.Memories(ctx, hippocampus.ListMemoriesParams{UserID: user}) {
		if err != nil {
			t.Fatal(err)
		}
		memory = found
	}
	changed := func(m *hippocampus.ChangedMemory, err error) (*hippocampus.Memory, error) {
		if err != nil {
			return nil, err
		}
		return &hippocampus.Memory{ID: m.ID, Status: m.Status}, nil
	}
	steps := []struct {
		name string
		do   func(id string) (*hippocampus.Memory, error)
		is   func(hippocampus.Memory) bool
	}{
		{"update", func(id string) (*hippocampus.Memory, error) {
			return client.Update(ctx, id, hippocampus.MemoryPatch{Content: new("Likes white tea.")})
		}, func(m hippocampus.Memory) bool { return m.Content == "Likes white tea." }},
		{"pin", func(id string) (*hippocampus.Memory, error) { return client.Pin(ctx, id) },
			func(m hippocampus.Memory) bool { return m.Pinned }},
		{"unpin", func(id string) (*hippocampus.Memory, error) { return client.Unpin(ctx, id) },
			func(m hippocampus.Memory) bool { return !m.Pinned }},
		{"forget", func(id string) (*hippocampus.Memory, error) {
			return changed(client.Forget(ctx, id, hippocampus.ForgetMemoryParams{}))
		},
			func(m hippocampus.Memory) bool { return m.Status == api.MemoryStatusForgotten }},
		{"restore", func(id string) (*hippocampus.Memory, error) {
			return changed(client.Restore(ctx, id, hippocampus.RestoreMemoryParams{}))
		},
			func(m hippocampus.Memory) bool { return m.Status == api.MemoryStatusActive }},
		{"show", func(id string) (*hippocampus.Memory, error) {
			return client.Memory(ctx, id, hippocampus.GetMemoryParams{})
		},
			func(m hippocampus.Memory) bool { return m.ID == memory.ID }},
	}
	for _, step := range steps {
		answer, err := step.do(memory.ID)
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if !step.is(*answer) {
			t.Errorf("%s answers %+v", step.name, answer)
		}
	}
	events, err := client.History(ctx, memory.ID)
	if err != nil {
		t.Fatal(err)
	}
	kinds := []api.MemoryEventKind{}
	for _, event := range events {
		kinds = append(kinds, event.Kind)
	}
	want := []api.MemoryEventKind{"created", "updated", "updated", "updated", "forgotten", "restored"}
	if !slices.Equal(kinds, want) {
		t.Errorf("the history is %v, not %v", kinds, want)
	}
	_, err = client.Memory(ctx, uuid.NewString(), hippocampus.GetMemoryParams{})
	if !errors.Is(err, hippocampus.KindNotFound) {
		t.Errorf("an unknown memory gives %v", err)
	}
}

func TestClient_StatesAndEndsFacts(t *testing.T) {
	t.Parallel()
	client, ctx, user := newClient(t), t.Context(), uuid.NewString()
	for _, city := range []string{"Lisbon", "Porto"} {
		_, err := client.StateFact(ctx, hippocampus.FactRequest{
			UserID: user, Type: "profile", Key: "home city", Value: city, Confidence: new(0.9),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range [][]any{{"Porto"}, {}} {
		values := []any{}
		for fact, err := range client.Facts(ctx, hippocampus.ListFactsParams{UserID: user}) {
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, fact.Value)
		}
		if !slices.Equal(values, want) {
			t.Errorf("the valid facts are %v, not %v", values, want)
		}
		if len(want) > 0 {
			end := hippocampus.EndFactParams{UserID: user, Type: "profile", Key: "home city"}
			if _, err := client.EndFact(ctx, end); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestClient_EndsConversationsPromotesAndForgets(t *testing.T) {
	t.Parallel()
	client, ctx, user := newClient(t), t.Context(), uuid.NewString()
	turn, err := client.AddTurn(ctx, hippocampus.TurnRequest{
		UserID: user, ConversationID: new("c-" + user), Wait: new(true),
		Messages: []hippocampus.Message{hippocampus.UserMessage("I am allergic to peanuts.")},
	})
	if err != nil || turn.Status != api.TurnStatusProcessed {
		t.Fatal(turn, err)
	}
	ended, err := client.EndConversation(ctx, "c-"+user, hippocampus.EndConversationRequest{Wait: new(true)})
	if err != nil || ended.Conversation.State != api.ConversationStateEnded {
		t.Fatal(ended, err)
	}
	shown, err := client.Turn(ctx, turn.ID)
	if err != nil || len(shown.Messages) != 1 {
		t.Errorf("the turn is %+v, %v", shown, err)
	}
	for listed, err := range client.Turns(ctx, hippocampus.ListTurnsParams{UserID: &user}) {
		if err != nil || listed.ID != turn.ID {
			t.Errorf("the turns have %+v, %v", listed, err)
		}
	}
	fast := hippocampus.ConsolidateRequest{Mode: api.ConsolidateRequestModeFast}
	if again, err := client.Consolidate(ctx, "c-"+user, fast); err != nil || again.Conversation.ID != "c-"+user {
		t.Errorf("the consolidation is %+v, %v", again, err)
	}
	var conversations []string
	for conversation, err := range client.Conversations(ctx, hippocampus.ListConversationsParams{UserID: user}) {
		if err != nil {
			t.Fatal(err)
		}
		conversations = append(conversations, conversation.ID)
	}
	if !slices.Equal(conversations, []string{"c-" + user}) {
		t.Errorf("the conversations are %v", conversations)
	}
	var proposed []string
	for candidate, err := range client.Candidates(ctx, hippocampus.ListCandidatesParams{UserID: &user}) {
		if err != nil {
			t.Fatal(err)
		}
		proposed = append(proposed, candidate.ID)
	}
	if promoted, err := client.Promote(ctx, hippocampus.PromoteRequest{Ids: proposed}); err != nil ||
		len(promoted.Results) != len(proposed) || len(proposed) == 0 {
		t.Errorf("the promotion of %v is answered with %+v, %v", proposed, promoted, err)
	}
	request := hippocampus.ForgetRequest{UserID: user}
	if preview, err := client.ForgetPreview(ctx, request); err != nil || !preview.DryRun || preview.Active == 0 {
		t.Errorf("the preview is %+v, %v", preview, err)
	}
	if forgetting, err := client.ForgetRun(ctx, request); err != nil || forgetting.DryRun {
		t.Errorf("the run is %+v, %v", forgetting, err)
	}
	_, err = client.Compress(ctx, hippocampus.CompressRequest{UserID: user})
	if !errors.Is(err, hippocampus.KindConflict) {
		t.Errorf("compression without a model gives %v", err)
	}
}

func TestClient_ListsAndErasesUsersOfItsApp(t *testing.T) {
	t.Parallel()
	client, ctx := newApp(t), t.Context()
	kept, erased := remember(t, client, "Likes tea."), remember(t, client, "Likes coffee.")
	receipt, err := client.EraseUser(ctx, erased)
	if err != nil || !receipt.Verified {
		t.Fatal(receipt, err)
	}
	var users []string
	for user, err := range client.Users(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		users = append(users, user.UserID)
	}
	if !slices.Equal(users, []string{kept}) {
		t.Errorf("the users are %v", users)
	}
	stats, err := client.Stats(ctx, hippocampus.GetStatsParams{UserID: &kept})
	if err != nil || stats.User == nil || stats.User.UserID != kept || stats.Memories["active"] != 1 {
		t.Errorf("the stats are %+v, %v", stats, err)
	}
	if ready, err := client.Ready(ctx); err != nil || ready.Status != api.ReadinessStatusReady {
		t.Errorf("the readiness is %+v, %v", ready, err)
	}
}
