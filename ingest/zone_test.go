package ingest

import (
	"context"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// A message is found by the day of its user, also after an edit, and keeps this day when the zone changes. The prompts
// to models state this day.
func TestProcess_HasTheDayOfTheUser(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	zone := time.FixedZone("-08:00", -8*3600)
	b.Zone = func(context.Context, memory.Owner) (*time.Location, error) { return zone, nil }
	b.Writer.Zone = b.Zone
	var scored, judged string
	b.models.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
		if strings.Contains(r.System, judgeMark) {
			judged = r.User
		} else {
			scored = r.User
		}
		return b.models.Scripted(r)
	})
	at := time.Date(2026, 2, 1, 6, 30, 0, 0, time.UTC)
	b.write("Ana lives in Porto", 0.9, at.Add(-time.Hour))
	b.models.Facts("moved", llmtest.Fact{Fact: "I moved to Lisbon", Importance: 0.9, Domain: memory.Lifestyle})
	b.similar("Ana lives in Porto", "I moved to Lisbon", 0.9)
	turn, _, err := b.Accept(t.Context(), memory.Turn{
		Owner: ada, At: at, Messages: []memory.Message{{Role: "user", Content: "I moved to Lisbon tonight."}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.processTurn(t.Context(), turn.ID); err != nil {
		t.Fatal(err)
	}
	kept := b.kept()
	if len(kept) != 1 || !strings.HasPrefix(kept[0].Lexemes, "2026 01 31 ") || !kept[0].CreatedAt.Equal(at) {
		t.Fatalf("kept %+v", kept)
	}
	if !strings.Contains(scored, "2026-01-31 22:30 -08:00, Saturday") {
		t.Errorf("the scorer's prompt has another day: %s", scored)
	}
	if !strings.Contains(judged, "2026-01-31 21:30") {
		t.Errorf("the judge's prompt has another day: %s", judged)
	}
	zone = time.UTC
	content := "I moved to Lisbon late."
	edited, err := b.Change(t.Context(), ada.AppID, kept[0].ID, Change{Content: &content})
	if err != nil || !strings.HasPrefix(edited.Lexemes, "2026 01 31 ") {
		t.Errorf("after an edit the message is found by %q: %v", edited.Lexemes, err)
	}
}
