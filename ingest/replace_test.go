package ingest

import (
	"errors"
	"testing"

	"hippocampus/internal/memory"
)

// If a turn is processed between the plan to replace it and the transaction, a second plan replaces it. The turn that
// takes its place is stored when it is accepted, and not rolled back with the first plan.
func TestAccept_StoresAReplacementOfATurnThatIsProcessedAtThatMoment(t *testing.T) {
	t.Parallel()
	b := newTalk(t)
	said := func(text, replaces string) memory.Turn {
		return memory.Turn{
			Owner: ada, ConversationID: "c", Replaces: replaces,
			Messages: []memory.Message{{Role: memory.RoleUser, Content: text}},
		}
	}
	first, _, err := b.Accept(t.Context(), said("I live in Lisbon.", ""))
	if err != nil {
		t.Fatal(err)
	}
	b.spy.enter = func() error {
		b.spy.enter = nil
		return b.processTurn(t.Context(), first.ID)
	}
	second, fresh, err := b.Accept(t.Context(), said("I live in Bergen.", first.ID))
	if err != nil || !fresh {
		t.Fatalf("fresh %v, %v", fresh, err)
	}
	for id, want := range map[string]memory.TurnStatus{
		first.ID: memory.TurnWithdrawn, second.ID: memory.TurnAccepted,
	} {
		if turn, err := b.store.Turn(t.Context(), ada.AppID, id); err != nil || turn.Status != want {
			t.Errorf("turn %s is %s, %v, want %s", id, turn.Status, err, want)
		}
	}
	for _, m := range b.memories() {
		t.Errorf("%q is a memory of the turn that was replaced", m.Content)
	}
}

// A turn whose transaction always fails is not accepted.
func TestAccept_RefusesAReplacementThatCannotBeStored(t *testing.T) {
	t.Parallel()
	b := newTalk(t)
	turn := memory.Turn{Owner: ada, Messages: []memory.Message{{Role: memory.RoleUser, Content: "I live in Lisbon."}}}
	first, _, err := b.Accept(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	cut := errors.New("cut off")
	b.spy.leave = func() error { return cut }
	turn.Replaces = first.ID
	if stored, fresh, err := b.Accept(t.Context(), turn); fresh || !errors.Is(err, cut) {
		t.Errorf("fresh %v, turn %+v, %v, want the failure of the transaction", fresh, stored, err)
	}
}
