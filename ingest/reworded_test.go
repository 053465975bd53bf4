package ingest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
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

// sourcesOf returns the contents of the sources of a memory.
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

// The wording of a fact before an edit is kept as a memory that the fact supersedes. It is derived from the same
// message, so that this message is former. The fact counts as said at the edit, and supersedes memories that contradict
// it.
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

// Editing a fact back to its earlier wording undoes the first edit.
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

// An edit that changes only case and punctuation makes no other statement.
func TestChange_KeepsTheStatementOfTheSameWords(t *testing.T) {
	t.Parallel()
	b := newTalk(t)
	b.tell("I live in utrecht.")
	n := len(b.all())
	if m := b.reword("fact: I live in utrecht", "I live in Utrecht"); !m.LastSaidAt.IsZero() || len(b.all()) != n {
		t.Errorf("edited: %+v, of %d memories", m, len(b.all()))
	}
}

// A fact that was said twice is valid until the second time: a statement of a time in between that is reported late
// does not supersede it.
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

// An insight that was made of a direct write becomes former when the write is edited, and is current again when the
// edit is undone.
func TestChange_MakesInsightsOfADirectWriteFormer(t *testing.T) {
	t.Parallel()
	b := newTalk(t)
	b.write("I live in Utrecht.", 0.8, time.Time{})
	b.write("I like Mozart.", 0.8, time.Time{})
	b.condense("Listens to Mozart in Utrecht", "I like Mozart.")
	insight := b.named(memory.Active, "reflection: ").ID
	err := b.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddRelations(ctx, []memory.Relation{{
			From: insight, Kind: memory.DerivedFrom, To: b.named(memory.Active, "fact: I live").ID, CreatedAt: begin,
		}})
	})
	if err != nil {
		t.Fatal(err)
	}
	b.reword("fact: I live in Utrecht", "I live in Groningen.")
	b.wantFacts("edited", map[string]string{
		"I live in Groningen.": "active", "I live in Utrecht.": "superseded", "I like Mozart.": "active",
		"Listens to Mozart in Utrecht": "former",
	})
	b.reword("fact: I live in Groningen", "I live in Utrecht.")
	b.wantFacts("edited back", map[string]string{
		"I live in Utrecht.": "active", "I like Mozart.": "consolidated", "Listens to Mozart in Utrecht": "active",
	})
}

// After a request restored a superseded fact, saying the later statement again supersedes the fact again, with and
// without a judge.
func TestWrite_RepeatsAContradiction(t *testing.T) {
	t.Parallel()
	for name, isJudged := range map[string]bool{"rules": false, "a judge": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTalk(t)
			said := []string{"I live in Utrecht.", "I live in Groningen."}
			if isJudged {
				b = newFixture(t)
				b.similar(said[0], said[1], 0.9)
				b.decides(`{"decisions":[{"memory":1,"decision":"replace","relation":"contradicts"}]}`)
			}
			b.write(said[0], 0.8, time.Time{})
			b.clock.Advance(time.Hour)
			b.write(said[1], 0.8, time.Time{})
			b.clock.Advance(time.Hour)
			b.restores(b.named(memory.Superseded, "fact: "+said[0]).ID)
			if late := b.write(said[1], 0.8, begin.Add(90*time.Minute)); late.Verdict != memory.Duplicate {
				t.Errorf("what was said before the restore: %+v", late)
			}
			b.wantFacts("restored", map[string]string{said[0]: "active", said[1]: "active"})
			b.clock.Advance(time.Hour)
			again := b.write(said[1], 0.8, time.Time{})
			b.wantFacts("said again", map[string]string{said[0]: "superseded", said[1]: "active"})
			if again.Verdict != memory.Duplicate || !strings.Contains(again.Reason, "replaces memory") {
				t.Errorf("said again: %s, %s", again.Verdict, again.Reason)
			}
		})
	}
}
