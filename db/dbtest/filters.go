package dbtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/memory/filter"
	"hippocampus/internal/memory/filter/filtertest"
)

func where(t rapid.TB, raw string) *filter.Filter {
	t.Helper()
	f, fault := filter.Parse([]byte(raw))
	if fault != nil {
		t.Fatalf("%s: %s %s", raw, fault.Path, fault.Message)
	}
	return f
}

func listByFilter(t *testing.T, s db.Store) {
	for i := range 1200 { // more than a page: few match
		m := newMemory(alice, fmt.Sprint(i))
		m.CreatedAt = after(i)
		m.Metadata = nil
		m.Tags = nil
		switch {
		case i%400 == 0:
			m.Metadata, m.Tags = json.RawMessage(fmt.Sprintf(`{"project":"atlas","n":%d}`, i)), []string{"a"}
		case i%3 == 0:
			m.Metadata = json.RawMessage(`{"project":["pegasus"]}`)
		}
		if i == 800 {
			m.Status = memory.Forgotten
		}
		insert(t, s, time.Time{}, m)
	}
	bobs := newMemory(memory.Owner{AppID: "app", UserID: "bob"}, "bob's")
	bobs.Metadata = json.RawMessage(`{"project":"atlas"}`)
	insert(t, s, time.Time{}, bobs)
	atlas := where(t, `{"metadata":{"project":"atlas"}}`)
	few := where(t, `{"or":[{"metadata":{"n":{"lt":500}}},{"content":"5"}]}`)
	for what, c := range map[string]struct {
		filter db.MemoryFilter
		want   []string
	}{
		"equal":           {db.MemoryFilter{Where: atlas}, []string{"800", "400", "0"}},
		"with a status":   {db.MemoryFilter{Where: atlas, Statuses: memory.Statuses[:1]}, []string{"400", "0"}},
		"with a tag":      {db.MemoryFilter{Where: few, Tags: []string{"a"}}, []string{"400", "0"}},
		"without columns": {db.MemoryFilter{Where: few}, []string{"400", "5", "0"}},
		"in a slice":      {db.MemoryFilter{Where: atlas, Since: after(1), Until: after(800)}, []string{"400"}},
		"nothing":         {db.MemoryFilter{Where: where(t, `{"metadata":{"project":"x"}}`)}, []string{}},
	} {
		wantSame(t, what, contentsOf(listAll(t, s, c.filter)), c.want)
	}
	mayMatch := listAll(t, s, db.MemoryFilter{Where: atlas, AsOf: after(500), Statuses: memory.Statuses[:1]})
	didMatch := slices.DeleteFunc(mayMatch, func(m memory.Memory) bool { return !atlas.Matches(&m) })
	wantSame(t, "as of", contentsOf(didMatch), []string{"400", "0"})
	matching, err := s.MatchingIDs(t.Context(), bobs.Owner, atlas)
	must(t, err)
	wantSame(t, "bob's ids", matching, []string{bobs.ID})
}

// Both databases choose exactly the memories that the function Matches does.
func filtersMatch(t *testing.T, s db.Store) {
	user := 0
	rapid.Check(t, func(t *rapid.T) {
		user++
		owner := memory.Owner{AppID: "app", UserID: fmt.Sprint("user", user)}
		var stored []memory.Memory
		for i, metadata := range rapid.SliceOfN(filtertest.Metadata(), 1, 8).Draw(t, "metadata") {
			m := newMemory(owner, []string{"even K", "Odd É茶%_'\\", "\u212a é茶", "\u0130", "odd i k"}[i%5])
			m.Metadata = metadata
			m.CreatedAt = after(-i)
			m.Status = memory.Statuses[i%7/6]
			m.Tags, m.AgentID = [][]string{{"work", "茶"}, nil}[i/2%2], []string{"", "agent"}[i/3%2]
			m.Importance, m.Pinned = float64(i)/10, i%4 == 0
			stored = append(stored, m)
		}
		if err := s.InUser(context.Background(), owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.Insert(ctx, stored, time.Time{})
		}); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			raw := filtertest.Filter().Draw(t, "filter")
			f := db.MemoryFilter{Owner: owner, Where: where(t, raw), Limit: rapid.IntRange(1, 9).Draw(t, "limit")}
			var want, active []string // ids
			for i := range stored {
				if m := &stored[i]; f.Where.Matches(m) {
					want = append(want, m.ID)
					if m.Status == memory.Active {
						active = append(active, m.ID)
					}
				}
			}
			page, err := s.ListMemories(context.Background(), f)
			if err != nil {
				t.Fatal(err)
			}
			if got := ids(page); !slices.Equal(got, want[:min(f.Limit, len(want))]) {
				t.Fatalf("%s lists %q, want %d of %q", raw, got, f.Limit, want)
			}
			got, err := s.MatchingIDs(context.Background(), owner, f.Where)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(got)
			slices.Sort(active)
			if !slices.Equal(got, active) {
				t.Fatalf("%s chooses %q, want %q", raw, got, active)
			}
		}
	})
}
