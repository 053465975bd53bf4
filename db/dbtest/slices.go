package dbtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// listAll reads all pages of a list, two rows a page.
func listAll(t *testing.T, s db.Store, f db.MemoryFilter) []memory.Memory {
	t.Helper()
	f.Owner, f.Limit = alice, 2
	all := []memory.Memory{}
	for {
		page, err := s.ListMemories(t.Context(), f)
		must(t, err)
		all = append(all, page...)
		if len(page) < f.Limit {
			return all
		}
		last := page[len(page)-1]
		f.Before = &db.Position{At: last.CreatedAt, ID: last.ID}
	}
}

// contentsOf returns the contents of memories in their order.
func contentsOf(memories []memory.Memory) []string {
	list := []string{}
	for _, m := range memories {
		list = append(list, m.Content)
	}
	return list
}

func listByTags(t *testing.T, s db.Store) {
	quoted := `it's "a" [tag], {b}\`
	for i, tags := range [][]string{nil, {"tea"}, {"tea", "茶"}, {"茶", "tea", quoted}, {"te"}, {"tea "}, {quoted}} {
		m := newMemory(alice, string(rune('0'+i)))
		m.CreatedAt, m.Tags = after(i), tags
		if i == 3 {
			m.ExpiresAt = after(10)
		}
		insert(t, s, time.Time{}, m)
	}
	gone := newMemory(alice, "gone")
	gone.CreatedAt = after(9)
	gone.Tags = []string{"tea"}
	gone.Status = memory.Forgotten
	insert(t, s, time.Time{}, gone)
	insert(t, s, time.Time{}, newMemory(memory.Owner{AppID: "app", UserID: "bob"}, "bob's"))
	active := []memory.Status{memory.Active}
	for what, c := range map[string]struct {
		filter db.MemoryFilter
		want   []string
	}{
		"all of one":           {db.MemoryFilter{Tags: []string{"tea"}}, []string{"gone", "3", "2", "1"}},
		"all of two":           {db.MemoryFilter{Tags: []string{"tea", "茶"}, Statuses: active}, []string{"3", "2"}},
		"all, one named twice": {db.MemoryFilter{Tags: []string{"茶", "茶"}}, []string{"3", "2"}},
		"quoted":               {db.MemoryFilter{Tags: []string{quoted}}, []string{"6", "3"}},
		"unknown tag":          {db.MemoryFilter{Tags: []string{"tea", "coffee"}}, []string{}},
		"any":                  {db.MemoryFilter{AnyTags: []string{"te", quoted, "coffee"}}, []string{"6", "4", "3"}},
		"any, in a slice": {
			db.MemoryFilter{AnyTags: []string{"tea"}, Since: after(2), Until: after(9)},
			[]string{"3", "2"},
		},
		"current, of a tag": {
			db.MemoryFilter{Tags: []string{"tea"}, Statuses: active, Unexpired: after(10)}, []string{"2", "1"},
		},
		"current until its end": {
			db.MemoryFilter{Tags: []string{"tea"}, Statuses: active, Unexpired: after(9)}, []string{"3", "2", "1"},
		},
		"both": {db.MemoryFilter{AnyTags: []string{quoted}, Tags: []string{"tea"}}, []string{"3"}},
	} {
		wantSame(t, what, contentsOf(listAll(t, s, c.filter)), c.want)
	}
}

func listAsOf(t *testing.T, s db.Store) {
	add := func(content string, created int, status memory.Status, tags []string, recorded ...int) {
		m := newMemory(alice, content)
		m.CreatedAt = after(created)
		m.Status = status
		m.Tags = tags
		insert(t, s, time.Time{}, m)
		must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
			var list []memory.Event
			for i, at := range recorded {
				kind := memory.EventUpdated
				if i == 0 {
					kind = memory.EventCreated
				}
				list = append(list, newEvent(m.ID, kind, after(at)))
			}
			return tx.AddEvents(ctx, list)
		}))
	}
	add("older", 1, memory.Active, []string{"a"}, 1)
	add("at that instant", 10, memory.Active, []string{"a"}, 10)
	add("dated later", 11, memory.Active, []string{"a"}, 5)
	add("recorded later", 2, memory.Active, []string{"a"}, 11)
	add("without a history", 3, memory.Active, []string{"a"})
	add("forgotten before", 4, memory.Forgotten, []string{"a"}, 4, 10)
	add("forgotten later", 5, memory.Forgotten, []string{"a"}, 5, 12)
	add("other tag", 6, memory.Active, nil, 6)
	add("tag removed later", 7, memory.Active, nil, 7, 8, 12)
	f := db.MemoryFilter{AsOf: after(10), Statuses: []memory.Status{memory.Active}, Tags: []string{"a"}}
	wantSame(t, "as of", contentsOf(listAll(t, s, f)),
		[]string{"at that instant", "tag removed later", "forgotten later", "without a history", "older"})
	wantSame(t, "as of, any status", contentsOf(listAll(t, s, db.MemoryFilter{AsOf: after(4)})),
		[]string{"forgotten before", "without a history", "older"})
}

func events(t *testing.T, s db.Store) {
	a, b := newMemory(alice, "a"), newMemory(alice, "b")
	bobs := newMemory(memory.Owner{AppID: "app", UserID: "bob"}, "bob's")
	insert(t, s, time.Time{}, a, b)
	insert(t, s, time.Time{}, bobs)
	first := newEvent(a.ID, memory.EventCreated, epoch)
	second := newEvent(a.ID, memory.EventUpdated, epoch)
	third := newEvent(b.ID, memory.EventCreated, after(1))
	add := func(owner memory.Owner, list ...memory.Event) {
		must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.AddEvents(ctx, list)
		}))
	}
	add(alice, third, second, first)
	add(bobs.Owner, newEvent(bobs.ID, memory.EventCreated, epoch))
	got, err := s.Events(t.Context(), alice, []string{a.ID, b.ID, bobs.ID, memory.NewID(), "no id"})
	must(t, err)
	wantSame(t, "events", got, map[string][]memory.Event{a.ID: {first, second}, b.ID: {third}})
	got, err = s.Events(t.Context(), alice, nil)
	must(t, err)
	wantSame(t, "no ids", got, map[string][]memory.Event{})
}

func conversationNeighbours(t *testing.T, s db.Store) {
	var all []memory.Memory
	for i := range 9 {
		m := newMemory(alice, string(rune('0'+i)))
		m.CreatedAt = after(i / 2) // two share an instant
		all = append(all, m)
	}
	for i := range all {
		all[i].AgentID = ""
	}
	all[2].AgentID = "cook"
	all[3].AgentID = "vet"
	all[6].AgentID = "vet"
	all[1].Status = memory.Superseded
	insert(t, s, time.Time{}, all...)
	elsewhere := newMemory(alice, "elsewhere")
	elsewhere.ConversationID = "another"
	insert(t, s, time.Time{}, elsewhere)
	insert(t, s, time.Time{}, newMemory(memory.Owner{AppID: "app", UserID: "bob"}, "bob's"))
	slices.SortFunc(all, func(a, b memory.Memory) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	active := slices.DeleteFunc(slices.Clone(all), func(m memory.Memory) bool { return m.Status != memory.Active })
	for _, seenBy := range []string{"", "vet", "cook"} {
		list := slices.DeleteFunc(slices.Clone(active), func(m memory.Memory) bool {
			return seenBy != "" && m.AgentID != "" && m.AgentID != seenBy
		})
		listed := listAll(t, s, db.MemoryFilter{
			Owner:          alice,
			SeenBy:         seenBy,
			ConversationID: "conversation",
			Statuses:       []memory.Status{memory.Active},
		})
		slices.Reverse(listed)
		wantSame(t, "seen by "+seenBy, contentsOf(listed), contentsOf(list))
		for _, n := range []int{1, 3, 100} {
			for i, m := range list {
				want := []memory.Memory{}
				for _, neighbour := range append(slices.Clone(list[max(0, i-n):i]), list[i+1:min(len(list), i+1+n)]...) {
					want = append(want, bare(neighbour))
				}
				got, err := s.ConversationNeighbours(t.Context(), alice, seenBy, "conversation",
					db.Position{At: m.CreatedAt, ID: m.ID}, n)
				must(t, err)
				wantSame(t, "neighbours of "+m.Content+" for "+seenBy, got, want)
			}
		}
	}
}

func removeRelation(t *testing.T, s db.Store) {
	a, b := newMemory(alice, "a"), newMemory(alice, "b")
	insert(t, s, time.Time{}, a, b)
	there := memory.Relation{From: a.ID, To: b.ID, Kind: memory.Supports, CreatedAt: epoch}
	back := memory.Relation{From: b.ID, To: a.ID, Kind: memory.Supports, CreatedAt: epoch}
	within := func(owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error {
		return s.InUser(t.Context(), owner, f)
	}
	must(t, within(alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddRelations(ctx, []memory.Relation{there, back})
	}))
	for _, wrong := range []memory.Relation{
		{From: a.ID, To: b.ID, Kind: memory.Refines}, {From: a.ID, To: a.ID, Kind: memory.Supports},
		{From: memory.NewID(), To: b.ID, Kind: memory.Supports}, {From: "no id", To: b.ID, Kind: memory.Supports},
	} {
		wantKind(t, within(alice, func(ctx context.Context, tx db.UserTx) error {
			return tx.RemoveRelation(ctx, wrong)
		}), memory.KindNotFound)
	}
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	remove := func(ctx context.Context, tx db.UserTx) error { return tx.RemoveRelation(ctx, there) }
	wantKind(t, within(bob, remove), memory.KindNotFound)
	must(t, within(alice, remove))
	wantKind(t, within(alice, remove), memory.KindNotFound)
	left, err := s.Relations(t.Context(), "app", a.ID)
	must(t, err)
	wantSame(t, "remaining relations", left, []memory.Relation{back})
}

func activeMemories(t *testing.T, s db.Store) {
	want := map[string]db.Age{}
	for i := range 12 {
		m := newMemory(alice, describe(i))
		m.Status = memory.Statuses[i%4]
		m.CreatedAt = after(i)
		m.UpdatedAt = after(i + 20)
		m.LastAccessedAt = after(2 * i)
		m.AccessCount = i
		m.Importance = float64(i) / 16
		m.Type = memory.Types[i]
		m.Pinned = i%3 == 0
		insert(t, s, time.Time{}, m)
		if m.Status == memory.Active {
			want[m.ID] = db.Age{
				CreatedAt:      m.CreatedAt,
				UpdatedAt:      m.UpdatedAt,
				LastAccessedAt: m.LastAccessedAt,
				AccessCount:    i,
				Importance:     m.Importance,
				Type:           m.Type,
				Domain:         m.Domain,
				Pinned:         m.Pinned,
				AgentID:        m.AgentID,
			}
		}
	}
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	insert(t, s, time.Time{}, newMemory(bob, "bob's"))
	got := map[string]db.Age{}
	must(t, s.OwnerAges(t.Context(), alice, func(id string, a db.Age) error {
		got[id] = a
		return nil
	}))
	wantSame(t, "ages", got, want)
	oldAges(t, s, want)
	for owner, n := range map[memory.Owner]int{alice: len(want), bob: 1, {AppID: "other", UserID: "alice"}: 0} {
		counted, err := s.CountActive(t.Context(), owner)
		must(t, err)
		wantSame(t, "active", counted, n)
	}
	errStop := errors.New("stop")
	if err := s.OwnerAges(t.Context(), alice, func(string, db.Age) error { return errStop }); !errors.Is(err, errStop) {
		t.Error(err)
	}
}

// exerciseRelated is Exercise for events, ages and neighbours of memories.
func exerciseRelated(t *testing.T, s db.Store, owner memory.Owner, list []memory.Memory) {
	t.Helper()
	_, err := s.ConversationNeighbours(t.Context(), owner, "a", "conversation",
		db.Position{At: list[1].CreatedAt, ID: list[1].ID}, 3)
	must(t, err)
	_, err = s.Events(t.Context(), owner, ids(list))
	must(t, err)
	_, err = s.CountActive(t.Context(), owner)
	must(t, err)
	must(t, s.OwnerAges(t.Context(), owner, func(string, db.Age) error { return nil }))
	must(t, s.OldAges(t.Context(), owner, db.Old{}, func(string, db.Age) error { return nil }))
	err = s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.RemoveRelation(ctx, memory.Relation{From: list[1].ID, To: list[2].ID, Kind: memory.Refines})
	})
	wantKind(t, err, memory.KindNotFound)
}

// slicesPartition splits random memories at random instants. Every memory must be
// in exactly one slice, and the joined slices must equal the whole list.
func slicesPartition(t *testing.T, s db.Store) {
	user := 0
	rapid.Check(t, func(t *rapid.T) {
		user++
		owner := memory.Owner{AppID: "app", UserID: fmt.Sprint("user", user)}
		instant := rapid.Custom(func(t *rapid.T) time.Time {
			return epoch.Add(time.Duration(rapid.IntRange(-3, 3).Draw(t, "µs")) * time.Microsecond)
		})
		var all []memory.Memory
		for _, at := range rapid.SliceOfN(instant, 1, 8).Draw(t, "created") {
			m := newMemory(owner, "m")
			m.CreatedAt = at
			all = append(all, m)
		}
		err := s.InUser(context.Background(), owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.Insert(ctx, all, time.Time{})
		})
		if err != nil {
			t.Fatal(err)
		}
		list := func(since, until time.Time) (ids []string) {
			found, err := s.ListMemories(context.Background(), db.MemoryFilter{
				Owner: owner,
				Since: since,
				Until: until,
				Limit: 100,
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range found {
				ids = append(ids, m.ID)
			}
			return ids
		}
		cuts := append(rapid.SliceOfN(instant, 1, 4).Draw(t, "cuts"), time.Time{})
		slices.SortFunc(cuts, time.Time.Compare)
		var joined []string
		for i, since := range cuts { // the last slice has no end
			until := time.Time{}
			if i+1 < len(cuts) {
				until = cuts[i+1]
			}
			joined = append(list(since, until), joined...)
		}
		if whole := list(time.Time{}, time.Time{}); len(whole) != len(all) || !slices.Equal(joined, whole) {
			t.Fatalf("slices at %v: %q, whole %q", cuts, joined, whole)
		}
	})
}
