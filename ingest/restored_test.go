package ingest

import (
	"strings"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

// named returns the user's memory of a status whose type and content begin with a text.
func (b *fixture) named(status memory.Status, beginning string) memory.Memory {
	b.t.Helper()
	for _, m := range b.all() {
		if m.Status == status && strings.HasPrefix(string(m.Type)+": "+m.Content, beginning) {
			return m
		}
	}
	b.t.Fatalf("no memory is %s and begins with %q: %v", status, beginning, b.all())
	return memory.Memory{}
}

// tell reports turns an hour apart, with the ids "1", "2" and so on.
func (b *fixture) tell(contents ...string) {
	b.t.Helper()
	for _, content := range contents {
		b.told++
		at := begin.Add(time.Duration(b.told) * time.Hour)
		if err := b.take(saidTurn{id: string(rune('0' + b.told)), content: content, at: at}); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *fixture) forgets(beginning string) string {
	b.t.Helper()
	id := b.named(memory.Active, beginning).ID
	if _, err := b.Forget(b.t.Context(), ada.AppID, id, OfStatement); err != nil {
		b.t.Fatal(err)
	}
	return id
}

func (b *fixture) restores(id string) Edited {
	b.t.Helper()
	restored, err := b.Restore(b.t.Context(), ada.AppID, id, OfStatement)
	if err != nil {
		b.t.Fatal(err)
	}
	return restored
}

// A restored home is former if another one was said since it was forgotten.
func TestRestore_ComparesWithWhatWasSaidSince(t *testing.T) {
	t.Parallel()
	b := newTalk(t)
	b.tell("I live in Utrecht.")
	first := b.forgets("fact: I live in Utrecht")
	b.tell("I live in Lisbon.")
	second := b.named(memory.Active, "fact: I live in Lisbon").ID
	restored := b.restores(first).Memory
	if restored.Status != memory.Superseded || restored.SupersededBy != second {
		t.Errorf("restored: %+v", restored)
	}
}

// A restored message lacks the facts that were forgotten while the message was forgotten.
func TestRestore_LeavesOutWhatWasForgottenSince(t *testing.T) {
	t.Parallel()
	b := newTalk(t)
	b.tell("I live in Lisbon. I like Mozart.", "I like Mozart. I like Vermeer.")
	likes := b.forgets("message: I like Mozart")
	home := b.forgets("message: I live in Lisbon")
	b.restores(likes)
	b.forgets("fact: I like Mozart")
	b.restores(home)
	if got, want := b.named(memory.Active, "message: I live in Lisbon").Content, "I live in Lisbon."; got != want {
		t.Errorf("the restored message is %q, want %q", got, want)
	}
}

// A restore undoes the forgetting of several turns after one of them was withdrawn.
func TestRestore_UndoesWhatIsLeftOfAForgetting(t *testing.T) {
	t.Parallel()
	b := newTalk(t)
	b.tell("I like Mozart.", "I like Vermeer. I like Mozart.")
	b.forgets("message: I like Mozart")
	if _, err := b.Withdraw(t.Context(), ada.AppID, "1"); err != nil {
		t.Fatal(err)
	}
	b.restores(b.named(memory.Forgotten, "fact: I like Mozart").ID)
	b.named(memory.Active, "message: I like Vermeer. I like Mozart.")
}

// A home that comes back with the withdrawal of a turn is former if another one was said later.
func TestWithdraw_ComparesWhatComesBack(t *testing.T) {
	t.Parallel()
	b := newTalk(t)
	b.tell("I live in Utrecht.", "I live in Lisbon.")
	b.forgets("fact: I live in Lisbon")
	b.tell("I live in Bergen.")
	if _, err := b.Withdraw(t.Context(), ada.AppID, "2"); err != nil {
		t.Fatal(err)
	}
	b.named(memory.Superseded, "fact: I live in Utrecht")
}
