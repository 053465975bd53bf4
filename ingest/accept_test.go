package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

// A turn that is sent again after an upgrade is the same turn: fields that could not be sent before do not change the
// hash of the other fields.
func TestTurnHash_CoversWhatTheClientSent(t *testing.T) {
	t.Parallel()
	turn := memory.Turn{
		Owner: memory.Owner{AppID: "app", UserID: "u"}, ConversationID: "c", ClientID: "x",
		Messages: []memory.Message{{Role: "user", Content: "Hi <b>", Name: "Ana"}, {Role: "assistant"}},
		Metadata: []byte(`{"a":1}`), At: time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC),
	}
	const sent = `["u","","c",[{"role":"user","content":"Hi \u003cb\u003e","name":"Ana"},` +
		`{"role":"assistant","content":""}],{"a":1},"2026-01-31T08:00:00Z"]`
	sum := sha256.Sum256([]byte(sent))
	if got := turnHash(turn); got != hex.EncodeToString(sum[:]) {
		t.Errorf("the hash is not of %s", sent)
	}
	for name, change := range map[string]func(*memory.Message){
		"kind":    func(m *memory.Message) { m.Kind = memory.Task },
		"tags":    func(m *memory.Message) { m.Tags = []string{"t"} },
		"context": func(m *memory.Message) { m.Context.ActionTaken = true },
	} {
		changed := turn
		changed.Messages = []memory.Message{turn.Messages[0], turn.Messages[1]}
		change(&changed.Messages[1])
		if turnHash(changed) == turnHash(turn) {
			t.Errorf("a turn with another %s has the same hash", name)
		}
	}
}

// In a conversation a scorer reads the chat messages only.
func TestScorable_KeepsChatMessages(t *testing.T) {
	t.Parallel()
	turn := memory.Turn{Messages: []memory.Message{
		{Role: "user", Content: "a", Tokens: 1}, {Role: "tool", Content: "b", Kind: memory.ToolUse, Tokens: 1},
		{Role: "user", Content: "c", Kind: memory.Chat, Tokens: 1},
	}}
	if got := scorable(turn); len(got) != 3 {
		t.Errorf("without a conversation: %v", got)
	}
	turn.ConversationID = "c"
	got := scorable(turn)
	if len(got) != 2 || got[0].Content != "a" || got[1].Content != "c" {
		t.Errorf("in a conversation: %v", got)
	}
}
