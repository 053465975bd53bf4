package ingest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

func TestPromote_NeedsNoChatModel(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.models.Facts("bees",
		llmtest.Fact{Fact: "The user keeps bees", Importance: 0.6, Domain: memory.Lifestyle},
		llmtest.Fact{Fact: "The user is tired", Importance: 0.3, Domain: memory.GeneralChat})
	turn := b.turn("I keep bees and I am tired")
	bees := turn.Candidates[0]
	if len(b.memories()) != 0 {
		t.Fatal("the gate kept something")
	}
	chats := b.models.Chats()
	chosen := Promotion{AppID: ada.AppID, UserID: ada.UserID, MinImportance: 0.5}
	got, more, err := b.Promote(t.Context(), chosen)
	if err != nil || more || len(got) != 1 || got[0].CandidateID != bees.ID || got[0].Verdict != memory.Kept {
		t.Fatalf("%+v %v %v", got, more, err)
	}
	m := b.stored(got[0].MemoryID)
	if m.Content != bees.Content || m.Importance != 0.6 || m.SourceTurnID != turn.Turn.ID ||
		!m.CreatedAt.Equal(turn.Turn.At) {
		t.Errorf("memory %+v", m)
	}
	if settled := b.outcome(turn.Turn.ID).Candidates[0]; settled.Verdict != memory.Kept || settled.MemoryID != m.ID {
		t.Errorf("candidate %+v", settled)
	}
	if again, _, err := b.Promote(t.Context(), chosen); err != nil || len(again) != 0 {
		t.Errorf("again by user: %+v, %v", again, err)
	}
	again, _, err := b.Promote(t.Context(), Promotion{AppID: ada.AppID, IDs: []string{bees.ID, memory.NewID()}})
	if err != nil || len(again) != 2 || again[0].MemoryID != m.ID || !memory.IsKind(again[1].Err, memory.KindNotFound) {
		t.Errorf("again by id: %+v, %v", again, err)
	}
	if other, _, err := b.Promote(t.Context(), Promotion{AppID: "other", IDs: []string{bees.ID}}); err != nil ||
		!memory.IsKind(other[0].Err, memory.KindNotFound) {
		t.Errorf("from another app: %+v, %v", other, err)
	}
	if len(b.memories()) != 1 || b.models.Chats() != chats {
		t.Errorf("%d memories, %d questions", len(b.memories()), b.models.Chats()-chats)
	}
}

func TestPromote_KeepsTheNameOfTheSpeaker(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.models.Facts("bees", llmtest.Fact{Fact: "I keep bees", Importance: 0.6, Domain: memory.Lifestyle})
	said := b.say("", memory.Message{Role: "user", Name: "Tom", Content: "I keep bees"})
	got, _, err := b.Promote(t.Context(), Promotion{AppID: ada.AppID, IDs: []string{said.Candidates[0].ID}})
	if err != nil || len(got) != 1 || got[0].Err != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	if m := b.stored(got[0].MemoryID); m.Speaker != "Tom" {
		t.Errorf("the memory is said by %q", m.Speaker)
	}
}

// A candidate that states what was forgotten stays refused, and the error says when and with which memory.
func TestPromote_RefusesWhatWasForgotten(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.models.Facts("bees",
		llmtest.Fact{Fact: "The user keeps bees", Importance: 0.6, Domain: memory.Lifestyle},
		llmtest.Fact{Fact: "The user is tired", Importance: 0.3, Domain: memory.GeneralChat})
	turn := b.turn("I keep bees. I am tired.")
	statement := memory.NewID()
	withhold := func(withheld ...memory.Withheld) {
		t.Helper()
		if err := b.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
			return tx.Withhold(ctx, turn.Turn.ID, withheld)
		}); err != nil {
			t.Fatal(err)
		}
	}
	withhold(memory.Withheld{Text: "I keep bees.", Statement: statement, At: begin})
	got, _, err := b.Promote(t.Context(), Promotion{AppID: ada.AppID, UserID: ada.UserID})
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v %v", got, err)
	}
	for _, p := range got {
		isForgotten := p.CandidateID == turn.Candidates[0].ID
		if isForgotten != memory.IsKind(p.Err, memory.KindConflict) || isForgotten != (p.MemoryID == "") {
			t.Errorf("%+v", p)
		}
		if isForgotten && (!strings.Contains(p.Err.Error(), statement) ||
			!strings.Contains(p.Err.Error(), begin.Format(time.RFC3339))) {
			t.Errorf("the error %q does not say what was forgotten when", p.Err)
		}
	}
	withhold()
	got, _, err = b.Promote(t.Context(), Promotion{AppID: ada.AppID, IDs: []string{turn.Candidates[0].ID}})
	if err != nil || got[0].Verdict != memory.Kept {
		t.Errorf("after the restore: %+v, %v", got, err)
	}
}

func TestPromote_ContinuesWhereItStopped(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	for turn := range 3 {
		var facts []llmtest.Fact
		said := fmt.Sprintf("turn %d", turn)
		for i := range 45 {
			content := fmt.Sprintf("fact %d of turn %d", i, turn)
			v := make([]float32, llmtest.Dim)
			v[45*turn+i] = 1
			b.models.Embedding(content, v)
			facts = append(facts, llmtest.Fact{Fact: content, Importance: 0.6, Domain: memory.Lifestyle})
			said += ", " + content
		}
		b.models.Facts(fmt.Sprintf("turn %d", turn), facts...)
		b.turn(said)
	}
	p := Promotion{AppID: ada.AppID, UserID: ada.UserID}
	first, more, err := b.Promote(t.Context(), p)
	if err != nil || !more || len(first) != MaxPromoted {
		t.Fatalf("%d, %v, %v", len(first), more, err)
	}
	rest, more, err := b.Promote(t.Context(), p)
	if err != nil || more || len(rest) != 35 {
		t.Errorf("%d, %v, %v", len(rest), more, err)
	}
}

func TestPromote_RefusesInvalidAnswers(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.models.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Text("no JSON") })
	turn := b.accept("I keep bees")
	if err := b.processTurn(t.Context(), turn.ID); err != nil {
		t.Fatal(err)
	}
	refused := b.outcome(turn.ID).Candidates[0]
	got, _, err := b.Promote(t.Context(), Promotion{AppID: ada.AppID, IDs: []string{refused.ID}})
	if err != nil || !memory.IsKind(got[0].Err, memory.KindConflict) || len(b.memories()) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// Promotion asks no chat model, and follows the rules as a write without a model does.
func TestPromote_ReplacesASingleAttribute(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	const porto, braga = "I live in Porto, near the river.", "We moved to Braga last month."
	b.similar(porto, braga, 0.1)
	b.models.Facts("Braga", llmtest.Fact{Fact: braga, Importance: 0.3, Domain: memory.Lifestyle})
	refused := b.turn(braga).Candidates[0]
	old := b.write(porto, 0.8, b.clock.Now().Add(-time.Hour)).Memory // after the turn, which else would replace it
	chats := b.models.Chats()
	got, _, err := b.Promote(t.Context(), Promotion{AppID: ada.AppID, IDs: []string{refused.ID}})
	if err != nil || len(got) != 1 || got[0].Verdict != memory.Kept || b.models.Chats() != chats {
		t.Fatalf("%+v, %v, %d questions", got, err, b.models.Chats()-chats)
	}
	if m := b.stored(old.ID); m.Status != memory.Superseded || m.SupersededBy != got[0].MemoryID {
		t.Errorf("the former home is %+v", m)
	}
}
