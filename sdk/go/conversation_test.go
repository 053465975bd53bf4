package hippocampus_test

import (
	"cmp"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	hippocampus "hippocampus/sdk/go"
	"hippocampus/sdk/go/api"
)

// expectation is what sdk/testdata/conversation.json expects of a memory.
type expectation struct {
	Type    api.MemoryType
	Content string
	Status  api.MemoryStatus
}

func TestClient_GivesTheMemoriesOfTheSharedConversation(t *testing.T) {
	t.Parallel()
	var script struct {
		Turns    []hippocampus.TurnRequest
		Memories []expectation
		Queries  []struct {
			hippocampus.RecallRequest
			First string
		}
	}
	readJSON(t, "../testdata/conversation.json", &script)
	client, user := newClient(t, hippocampus.WithTimeout(time.Minute)), uuid.NewString()
	for _, turn := range script.Turns {
		turn.UserID, turn.Wait = user, new(true)
		answer, err := client.AddTurn(t.Context(), turn)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Status != api.TurnStatusProcessed {
			t.Fatalf("the turn is %s", answer.Status)
		}
	}
	var got []expectation
	wanted := hippocampus.ListMemoriesParams{
		UserID: user, Limit: new(3),
		Status: []api.MemoryStatus{api.MemoryStatusActive, api.MemoryStatusSuperseded},
	}
	for memory, err := range client.Memories(t.Context(), wanted) {
		if err != nil {
			t.Fatal(err)
		}
		if memory.Type != api.MemoryTypeMessage {
			got = append(got, expectation{memory.Type, memory.Content, memory.Status})
		}
	}
	byContent := func(a, b expectation) int { return cmp.Compare(a.Content, b.Content) }
	slices.SortFunc(got, byContent)
	slices.SortFunc(script.Memories, byContent)
	if !reflect.DeepEqual(got, script.Memories) {
		t.Errorf("the memories are %v, not %v", got, script.Memories)
	}
	for _, query := range script.Queries {
		query.UserID = user
		answer, err := client.Recall(t.Context(), query.RecallRequest)
		if err != nil {
			t.Fatal(err)
		}
		if len(answer.Memories) == 0 || answer.Memories[0].Content != query.First {
			t.Errorf("%q is answered by %v, not by %q", query.Query, answer.Memories, query.First)
		}
	}
}

func TestAddTurn_AnswersARepetitionWithTheFirstTurn(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	turn := hippocampus.TurnRequest{
		ID: new(uuid.NewString()), UserID: uuid.NewString(),
		Messages: []hippocampus.Message{hippocampus.UserMessage("I like rowing."), hippocampus.AssistantMessage("Nice.")},
	}
	first, err := client.AddTurn(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	again, err := client.AddTurn(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	if again.ID != first.ID || again.Repeated == nil || !*again.Repeated {
		t.Errorf("the repetition is answered with %+v", again)
	}
}
