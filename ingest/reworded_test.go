package ingest

import (
	"slices"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

// reword changes the content of the active fact with this beginning. The time is after all turns.
func (b *fixture) reword(beginning, content string) memory.Memory {
	b.t.Helper()
	b.clock.Set(begin.Add(100*time.Hour + time.Duration(b.told)*time.Hour))
	b.told++
	id := b.named(memory.Active, beginning).ID
	m, err := b.Change(b.t.Context(), ada.AppID, id, Change{Content: &content})
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

// sourcesOf returns the contents of what a memory was derived from.
func (b *fixture) sourcesOf(id string) (contents []string) {
	b.t.Helper()
	sources, err := b.store.Sources(b.t.Context(), ada, []string{id})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, m := range sources[id] {
		contents = append(contents, m.Content)
	}
	return contents
}

// What a fact said before it was edited is kept as what it supersedes, derived from the same message, so that this
// message is former. The fact is said as of the edit, and supersedes what contradicts it.
func TestChange_SupersedesWhatTheFactSaid(t *testing.T) {
	t.Parallel()
	b := newTalk(t)
	b.tell("I live in Utrecht.", "I like Mozart.")
	edited := b.reword("fact: I live in Utrecht", "I live in Groningen.")
	former := b.named(memory.Superseded, "fact: I live in Utrecht.")
	if former.SupersededBy != edited.ID || !slices.Equal(b.sourcesOf(former.ID), []string{"I live in Utrecht."}) {
		t.Errorf("what the fact said: %+v, derived from %q", former, b.sourcesOf(former.ID))
	}
	if !edited.LastSaidAt.Equal(b.clock.Now()) || !edited.CreatedAt.Equal(former.CreatedAt) {
		t.Errorf("edited: %+v", edited)
	}
	home := b.reword("fact: I like Mozart", "I live in Bergen.")
	if m := b.named(memory.Superseded, "fact: I live in Groningen."); m.ID != edited.ID || m.SupersededBy != home.ID {
		t.Errorf("the other home: %+v", m)
	}
}

// A fact that gets back what it said before undoes what the edit did.
func TestChange_UndoesAnEdit(t *testing.T) {
	t.Parallel()
	b := newTalk(t)
	b.tell("I live in Utrecht.", "I like Mozart.")
	b.reword("fact: I like Mozart", "I live in Bergen.")
	b.named(memory.Superseded, "fact: I live in Utrecht.")
	b.reword("fact: I live in Bergen", "I like Mozart")
	b.named(memory.Active, "fact: I like Mozart")
	b.named(memory.Active, "fact: I live in Utrecht.")
	for _, m := range b.all() {
		if m.Status == memory.Superseded && m.Content != "I live in Bergen." {
			t.Errorf("superseded: %+v", m)
		}
	}
}

// An edit that changes only case and marks is no other statement.
func TestChange_KeepsTheStatementOfTheSameWords(t *testing.T) {
	t.Parallel()
	b := newTalk(t)
	b.tell("I live in utrecht.")
	n := len(b.all())
	if m := b.reword("fact: I live in utrecht", "I live in Utrecht"); !m.LastSaidAt.IsZero() || len(b.all()) != n {
		t.Errorf("edited: %+v, of %d memories", m, len(b.all()))
	}
}

// What a user has said twice is true until then: what is reported late of a time in between does not supersede it.
func TestWrite_CountsTheLastTimeThatAFactWasSaid(t *testing.T) {
	t.Parallel()
	b := newTalk(t)
	b.tell("I live in Utrecht.", "I like Mozart.", "I live in Utrecht.")
	home := b.named(memory.Active, "fact: I live in Utrecht.")
	if want := begin.Add(3 * time.Hour); !home.LastSaidAt.Equal(want) {
		t.Errorf("last said at %v, want %v", home.LastSaidAt, want)
	}
	late := saidTurn{id: "late", content: "I live in Lisbon.", at: begin.Add(2 * time.Hour)}
	if err := b.take(late); err != nil {
		t.Fatal(err)
	}
	if m := b.named(memory.Superseded, "fact: I live in Lisbon."); m.SupersededBy != home.ID {
		t.Errorf("the late report: %+v", m)
	}
}
