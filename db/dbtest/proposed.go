package dbtest

import (
	"context"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// proposedInsights stand as long as their sources are active, are decided once, and are the newest of each user.
func proposedInsights(t *testing.T, s db.Store) {
	ctx := t.Context()
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	facts := map[memory.Owner][]memory.Memory{}
	for _, owner := range []memory.Owner{alice, bob, {AppID: "other", UserID: "alice"}} {
		facts[owner] = []memory.Memory{newMemory(owner, "Swims."), newMemory(owner, "Rests.")}
		insert(t, s, epoch, facts[owner]...)
	}
	propose := func(owner memory.Owner, content string, of ...memory.Memory) db.ProposedInsight {
		t.Helper()
		p := db.ProposedInsight{
			ID: memory.NewID(), Owner: owner, AgentID: "a", Content: content, Domain: memory.Lifestyle, Importance: 0.9,
			Sources: memory.IDs(of), ProposedAt: after(1),
		}
		if len(of) > 1 {
			p.Retires = p.Sources[1:]
		}
		must(t, s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.ProposeInsights(ctx, []db.ProposedInsight{p})
		}))
		return p
	}
	decide := func(owner memory.Owner, id string) error {
		return s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error { return tx.DecideInsight(ctx, id) })
	}
	list := func(f db.ProposedFilter) []db.ProposedInsight {
		t.Helper()
		found, err := s.ListProposedInsights(ctx, f)
		must(t, err)
		return found
	}
	a := propose(alice, "\"Swims\" \u2603", facts[alice]...)
	b := propose(bob, "Rows.", facts[bob][:1]...)
	c := propose(alice, "Rests.", facts[alice][1])
	all := db.ProposedFilter{AppID: "app", Limit: 10}
	wantSame(t, "all", list(all), []db.ProposedInsight{c, b, a})
	wantSame(t, "of a user", list(db.ProposedFilter{AppID: "app", UserID: "alice", Limit: 10}), []db.ProposedInsight{c, a})
	wantSame(t, "a page", list(db.ProposedFilter{AppID: "app", UserID: "alice", Before: c.ID, Limit: 1}),
		[]db.ProposedInsight{a})
	wantSame(t, "of another app", len(list(db.ProposedFilter{AppID: "other", Limit: 10})), 0)
	found, err := s.ProposedInsight(ctx, "app", a.ID)
	must(t, err)
	wantSame(t, "one", found, a)
	for _, id := range []string{memory.NewID(), "no id", ""} {
		if _, err := s.ProposedInsight(ctx, "app", id); !memory.IsKind(err, memory.KindNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if _, err := s.ProposedInsight(ctx, "other", a.ID); !memory.IsKind(err, memory.KindNotFound) {
		t.Errorf("of another app: %v", err)
	}
	if err := decide(bob, a.ID); !memory.IsKind(err, memory.KindNotFound) {
		t.Errorf("by another user: %v", err)
	}
	must(t, decide(alice, c.ID))
	if err := decide(alice, c.ID); !memory.IsKind(err, memory.KindNotFound) {
		t.Errorf("twice: %v", err)
	}

	gone := facts[alice][1]
	gone.Status, gone.Revision = memory.Forgotten, 2
	update(t, s, gone)
	wantSame(t, "without those of forgotten facts", list(all), []db.ProposedInsight{b})
	if err := decide(alice, a.ID); !memory.IsKind(err, memory.KindNotFound) {
		t.Errorf("of a forgotten fact: %v", err)
	}
	gone.Status, gone.Revision = memory.Active, 3
	update(t, s, gone)
	wantSame(t, "with those of restored facts", list(all), []db.ProposedInsight{b, a})

	for range db.MaxProposedInsights {
		propose(alice, "Another one.", facts[alice][0])
	}
	got := list(db.ProposedFilter{AppID: "app", UserID: "alice", Limit: 2 * db.MaxProposedInsights})
	wantSame(t, "the newest", len(got), db.MaxProposedInsights)
	if _, err := s.ProposedInsight(ctx, "app", a.ID); !memory.IsKind(err, memory.KindNotFound) {
		t.Errorf("the oldest stays: %v", err)
	}
}

func exerciseProposed(t *testing.T, s db.Store, owner memory.Owner, sources []string) {
	t.Helper()
	ctx := t.Context()
	p := db.ProposedInsight{
		ID: memory.NewID(), Owner: owner, Domain: memory.Lifestyle, Importance: 0.9, Sources: sources, ProposedAt: after(1),
	}
	must(t, s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.ProposeInsights(ctx, []db.ProposedInsight{p})
	}))
	for _, f := range []db.ProposedFilter{{UserID: owner.UserID, Before: memory.NewID()}, {Before: memory.NewID()}, {}} {
		f.AppID, f.Limit = owner.AppID, 5
		_, err := s.ListProposedInsights(ctx, f)
		must(t, err)
	}
	decide := func(ctx context.Context, tx db.UserTx) error { return tx.DecideInsight(ctx, p.ID) }
	if _, err := s.ProposedInsight(ctx, owner.AppID, p.ID); memory.IsKind(err, memory.KindNotFound) {
		return // not all of the sources are active
	}
	must(t, s.InUser(ctx, owner, decide))
}
