package dbtest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func listMemories(t *testing.T, s db.Store) {
	var all []memory.Memory
	for i := range 40 {
		m := newMemory(alice, describe(i))
		m.CreatedAt = after(i / 3) // some share an instant
		m.Type = memory.Types[i%3]
		m.Domain = memory.Domains[i%4]
		m.Status = memory.Statuses[i%4]
		m.AgentID, m.ConversationID = fmt.Sprint("a", i%2), fmt.Sprint("c", i%5)
		all = append(all, m)
	}
	insert(t, s, time.Time{}, all...)
	insert(t, s, time.Time{}, newMemory(memory.Owner{AppID: "app", UserID: "bob"}, "bob's"))
	slices.SortFunc(all, func(a, b memory.Memory) int {
		return -cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})

	for what, c := range map[string]struct {
		filter db.MemoryFilter
		keep   func(memory.Memory) bool
	}{
		"all": {db.MemoryFilter{}, func(memory.Memory) bool { return true }},
		"types": {
			db.MemoryFilter{Types: memory.Types[:2]},
			func(m memory.Memory) bool { return slices.Contains(memory.Types[:2], m.Type) },
		},
		"domains": {
			db.MemoryFilter{Domains: memory.Domains[1:3]},
			func(m memory.Memory) bool { return slices.Contains(memory.Domains[1:3], m.Domain) },
		},
		"statuses": {
			db.MemoryFilter{Statuses: memory.Statuses[:1]},
			func(m memory.Memory) bool { return m.Status == memory.Active },
		},
		"conversation": {
			db.MemoryFilter{ConversationID: "c3"},
			func(m memory.Memory) bool { return m.ConversationID == "c3" },
		},
		"agent": {db.MemoryFilter{AgentID: "a1"}, func(m memory.Memory) bool { return m.AgentID == "a1" }},
		"time": {db.MemoryFilter{Since: after(2), Until: after(9)},
			func(m memory.Memory) bool { return !m.CreatedAt.Before(after(2)) && m.CreatedAt.Before(after(9)) }},
		"several": {db.MemoryFilter{
			Types:    memory.Types[:1],
			AgentID:  "a0",
			Since:    after(1),
			Statuses: []memory.Status{memory.Active, memory.Consolidated},
		},
			func(m memory.Memory) bool {
				return m.Type == memory.Types[0] && m.AgentID == "a0" && !m.CreatedAt.Before(after(1)) &&
					(m.Status == memory.Active || m.Status == memory.Consolidated)
			}},
		"unknown conversation": {db.MemoryFilter{ConversationID: "nowhere"}, func(memory.Memory) bool { return false }},
	} {
		want := []memory.Memory{}
		for _, m := range all {
			if c.keep(m) {
				want = append(want, bare(m))
			}
		}
		for _, limit := range []int{1, 7, 500} {
			f := c.filter
			f.Owner, f.Limit = alice, limit
			var got []memory.Memory
			for {
				page, err := s.ListMemories(t.Context(), f)
				must(t, err)
				got = append(got, page...)
				if len(page) < limit {
					break
				}
				last := page[len(page)-1]
				f.Before = &db.Position{At: last.CreatedAt, ID: last.ID}
			}
			wantSame(t, fmt.Sprintf("%s, %d a page", what, limit), got, want)
		}
		f := c.filter
		f.Owner, f.Limit = alice, memory.MaxPage
		var got []memory.Memory
		for pages := 0; ; pages++ {
			end, err := s.EndOfExamined(t.Context(), f, 3)
			must(t, err)
			f.DownTo = end
			page, err := s.ListMemories(t.Context(), f)
			must(t, err)
			got = append(got, page...)
			if end == nil {
				break
			}
			f.Before = end
			if len(page) > 3 || pages > len(all) {
				t.Fatalf("%s: %d memories of 3 that are examined, page %d", what, len(page), pages)
			}
		}
		wantSame(t, what+", 3 examined at once", got, want)
	}
}

func history(t *testing.T, s db.Store) {
	m, quiet := newMemory(alice, "with a history"), newMemory(alice, "without")
	insert(t, s, time.Time{}, m, quiet)
	var events []memory.Event
	for i, kind := range memory.EventKinds {
		events = append(events, newEvent(m.ID, kind, after(i/2)))
	}
	events[3].Detail = nil
	purged := newEvent(memory.NewID(), memory.EventPurged, epoch)
	shuffled := append([]memory.Event{purged}, events...)
	slices.Reverse(shuffled)
	add := func(events []memory.Event) error {
		return s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
			return tx.AddEvents(ctx, events)
		})
	}
	must(t, add(shuffled))
	must(t, add(nil))
	wantKind(t, add(events[:1]), memory.KindConflict)
	for id, want := range map[string][]memory.Event{m.ID: events, quiet.ID: nil, purged.MemoryID: {purged}} {
		got, err := s.History(t.Context(), "app", id)
		must(t, err)
		wantSame(t, "history", got, want)
	}
	_, err := s.History(t.Context(), "app", memory.NewID())
	wantKind(t, err, memory.KindNotFound)
	_, err = s.History(t.Context(), "other", m.ID)
	wantKind(t, err, memory.KindNotFound)
	_, err = s.Memory(t.Context(), "app", memory.NewID())
	wantKind(t, err, memory.KindNotFound)
}

func unconfirmed(t *testing.T, s db.Store) {
	var all []memory.Memory
	for i := range 6 {
		m := newMemory(alice, describe(i))
		m.CreatedAt, m.UpdatedAt = after(-i), after(i) // the last updated have the oldest CreatedAt
		all = append(all, m)
	}
	all[5].Status = memory.Forgotten
	insert(t, s, after(50), all...)
	finish := func(i, at int) {
		must(t, s.FinishVectors(t.Context(), []db.VectorTask{{Memory: all[i], Claim: 1}}, after(at)))
	}
	finish(1, 10)
	finish(2, 20)
	finish(3, 30)
	finish(5, 40)
	want := []memory.Memory{all[4], all[3], all[2], all[0]}
	got, err := s.Unconfirmed(t.Context(), alice, after(20), 10)
	must(t, err)
	wantSame(t, "unconfirmed", got, want)
	must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		got, err := tx.Recent(ctx, after(20), math.MaxInt64, 2)
		wantSame(t, "within a transaction", got, want[:2])
		return err
	}))
	changed := all[1]
	changed.Revision, changed.UpdatedAt = 2, after(60)
	revision, err := s.Revision(t.Context(), alice)
	must(t, err)
	update(t, s, changed)
	got, err = s.Unconfirmed(t.Context(), alice, after(99), 10)
	must(t, err)
	wantSame(t, "pending ones", ids(got), ids([]memory.Memory{changed, all[4], all[0]}))
	said := newMemory(alice, "a message")
	said.Type, said.CreatedAt, said.UpdatedAt = memory.TypeMessage, after(61), after(61)
	insert(t, s, after(70), said)
	must(t, s.FinishVectors(t.Context(), []db.VectorTask{
		{Memory: changed, Claim: 1}, {Memory: all[4], Claim: 1}, {Memory: all[0], Claim: 1}, {Memory: said, Claim: 1},
	}, after(80)))
	must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		got, err := tx.Recent(ctx, after(99), revision, 10)
		wantSame(t, "changed since a revision", ids(got), ids([]memory.Memory{changed}))
		return err
	}))
}

func sameContent(t *testing.T, s db.Store) {
	older := newMemory(alice, "茶 tea")
	newer := newMemory(alice, "茶 tea")
	forgotten := newMemory(alice, "茶 tea")
	message := newMemory(alice, "茶 tea")
	message.CreatedAt, message.Type = after(-2), memory.TypeMessage
	shared := newMemory(alice, "茶 tea")
	newer.CreatedAt = after(1)
	forgotten.CreatedAt = after(-1)
	forgotten.Status = memory.Forgotten
	shared.AgentID = ""
	insert(t, s, time.Time{}, newer, older, forgotten, message, shared)
	find := func(agent, content string) (m memory.Memory, ok bool) {
		must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) (err error) {
			m, ok, err = tx.SameContent(ctx, agent, content)
			return err
		}))
		return m, ok
	}
	got, ok := find("agent", "茶 tea")
	wantSame(t, "the oldest", got, older)
	got, ok2 := find("", "茶 tea")
	wantSame(t, "the shared one", got, shared)
	if !ok || !ok2 {
		t.Error("a memory was found, but ok is false")
	}
	if _, ok := find("agent", "茶 tea "); ok {
		t.Error("a memory with other content was found")
	}
	if _, ok := find("other", "茶 tea"); ok {
		t.Error("a memory of another agent was found")
	}
	older.Content, older.Revision = "coffee", 2
	update(t, s, older)
	got, _ = find("agent", "茶 tea")
	wantSame(t, "the next oldest", got.ID, newer.ID)
	got, _ = find("agent", "coffee")
	wantSame(t, "the changed one", got.ID, older.ID)
}

func batch(t *testing.T, s db.Store) {
	turn := newTurn(alice, "")
	accepted(t, s, turn)
	var all []memory.Memory
	var events []memory.Event
	var found []memory.Candidate
	var touches []db.Touch
	for i := range memory.MaxBatch {
		m := newMemory(alice, describe(i))
		all = append(all, m)
		events = append(events, newEvent(m.ID, memory.EventCreated, epoch))
		found = append(found, newCandidate(turn.ID))
		touches = append(touches, db.Touch{Owner: m.Owner, ID: m.ID, Count: 1, At: after(1)})
	}
	must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		must(t, tx.Insert(ctx, all, after(60)))
		must(t, tx.Insert(ctx, nil, after(60)))
		must(t, tx.AddEvents(ctx, events))
		return tx.AddCandidates(ctx, found)
	}))
	must(t, s.Touch(t.Context(), touches))
	tasks, err := s.ClaimDueVectors(t.Context(), after(60), after(120), memory.MaxBatch)
	must(t, err)
	wantSame(t, "claimed", len(tasks), memory.MaxBatch)
	must(t, s.FinishVectors(t.Context(), tasks, after(61)))
	stats, err := s.Stats(t.Context(), "app")
	must(t, err)
	wantSame(t, "synced", stats.Vectors, map[memory.VectorState]int{memory.VectorSynced: memory.MaxBatch})
	wantSame(t, "candidates", stats.Candidates, map[memory.Verdict]int{memory.Kept: memory.MaxBatch})
}

// bare returns m without its embedding, as most reads do.
func bare(m memory.Memory) memory.Memory {
	m.Embedding = nil
	return m
}
