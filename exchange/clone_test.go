package exchange_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hippocampus/db"
	"hippocampus/exchange"
	"hippocampus/internal/memory"
)

var bob = memory.Owner{AppID: "app", UserID: "bob"}

func admitAll([]byte) error { return nil }

// Each id that the server wrote is the copy's, and each text of users and clients stays, even if it has an id.
func TestClone_MapsEachID(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	turn, theirs := memory.NewID(), memory.NewID()
	said := memory.Memory{
		ID: memory.DerivedID(turn, 3, 2), Owner: ada, Content: "Order " + theirs, Type: memory.TypeMessage,
		Domain: memory.GeneralChat, Status: memory.Active, SourceTurnID: turn, ConversationID: theirs, Revision: 1,
		Metadata:  json.RawMessage(fmt.Sprintf(`{"order":%q,"skill":{"name":"a","workflow":%q}}`, theirs, turn)),
		CreatedAt: noon, UpdatedAt: noon, LastAccessedAt: noon,
	}
	former := said
	former.ID, former.Type = memory.NewID(), memory.TypeFact
	former.Status, former.SupersededBy = memory.Superseded, said.ID
	detail := fmt.Sprintf(`{"from":{"content":"Order %[1]s","metadata":{"order":"%[1]s"},"superseded_by":""},`+
		`"to":{"superseded_by":"%[2]s"},"sources":["%[2]s","%[3]s"],"n":[1.50,{"reason":"memory %[2]s says \"no\""}]}`,
		theirs, said.ID, former.ID)
	p.change(ada, func(ctx context.Context, tx db.UserTx) error {
		if err := tx.Restore(ctx, []memory.Memory{said, former}, noon); err != nil {
			return err
		}
		if err := tx.AddRelations(ctx, []memory.Relation{
			{From: former.ID, To: said.ID, Kind: memory.DerivedFrom, CreatedAt: noon},
		}); err != nil {
			return err
		}
		return tx.AddEvents(ctx, []memory.Event{{
			ID: memory.NewID(), MemoryID: former.ID, Kind: memory.EventSuperseded, At: noon, Detail: json.RawMessage(detail),
			Cause: fmt.Sprintf("consolidation %s of conversation %s", turn, theirs),
		}})
	})
	done, err := p.Clone(t.Context(), ada, bob, admitAll)
	if err != nil || done.Copied[exchange.Memories] != 2 || done.Failed != 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	turnCopy := memory.CopiedID(turn, bob, 0)
	saidCopy, formerCopy := memory.DerivedID(turnCopy, 3, 2), memory.CopiedID(former.ID, bob, 0)
	copies := strings.NewReplacer(turn, turnCopy, said.ID, saidCopy, former.ID, formerCopy)
	got, err := p.store.Recorded(t.Context(), bob, []string{saidCopy, formerCopy})
	if err != nil {
		t.Fatal(err)
	}
	m, f := got[saidCopy], got[formerCopy]
	if m.Memory.SourceTurnID != turnCopy || m.Memory.Content != said.Content || m.Memory.ConversationID != theirs ||
		string(m.Memory.Metadata) != copies.Replace(string(said.Metadata)) {
		t.Errorf("the message: %+v", m.Memory)
	}
	if f.Memory.SupersededBy != saidCopy || len(f.Relations) != 1 || f.Relations[0].To != saidCopy {
		t.Errorf("the former fact: %+v, %+v", f.Memory, f.Relations)
	}
	if e := f.Events[0]; string(e.Detail) != copies.Replace(detail) ||
		e.Cause != fmt.Sprintf("consolidation %s of conversation %s", turnCopy, theirs) {
		t.Errorf("the event: %q %s\nwant %s", e.Cause, e.Detail, copies.Replace(detail))
	}
}

// A clone asks no embedder, and copies everything once.
func TestClone_CopiesEachKindOnce(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	p.fill(130)
	p.fillOthers(12)
	before := p.export(exchange.Selection{UserID: ada.UserID})
	first, err := p.Clone(t.Context(), ada, bob, admitAll)
	if err != nil || first.Failed != 0 || first.Copied[exchange.Memories] < 130 {
		t.Fatalf("%+v, %v", first, err)
	}
	if p.embedder.texts != 0 {
		t.Errorf("%d texts were embedded", p.embedder.texts)
	}
	again, err := p.Clone(t.Context(), ada, bob, admitAll)
	if err != nil || again.Failed != 0 || again.Present.String() != first.Copied.String() {
		t.Errorf("again: %+v, %v; first %+v", again, err, first)
	}
	lines := strings.Count(before, "\n")
	if n := strings.Count(p.export(exchange.Selection{UserID: bob.UserID}), "\n"); n != lines {
		t.Errorf("the copy has %d lines, the original %d", n, lines)
	}
	if after := p.export(exchange.Selection{UserID: ada.UserID}); body(after) != body(before) {
		t.Errorf("the original has changed: %s", firstDifference(before, after))
	}
}

// A clone fails if its user is erased meanwhile, and the user stays erased.
func TestClone_NoticesAnErasure(t *testing.T) {
	t.Parallel()
	for _, erased := range []memory.Owner{ada, bob} {
		p := newFixture(t)
		p.fill(130)
		lines := 0
		done, err := p.Clone(t.Context(), ada, bob, func([]byte) error {
			lines++
			if lines == 60 {
				p.erase(erased)
			}
			return nil
		})
		if erased == ada && !memory.IsKind(err, memory.KindConflict) {
			t.Errorf("the user was erased: %+v, %v", done, err)
		}
		if erased == bob && (err != nil || done.Failed == 0 || done.Copied[exchange.Memories] != 0) {
			t.Errorf("the other user was erased: %+v, %v", done, err)
		}
		if left := p.export(exchange.Selection{UserID: bob.UserID}); erased == bob && strings.Count(left, "\n") != 2 {
			t.Errorf("left: %.300s", left)
		}
	}
}
