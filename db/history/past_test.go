package history_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/memory"
	"hippocampus/internal/memory/filter"
)

func TestList_ReturnsPastMemories(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		r := &run{
			fixture:   f,
			owner:     memory.Owner{AppID: "app", UserID: fmt.Sprint("user", runs)},
			snapshots: map[time.Time][]memory.Memory{},
		}
		t.Repeat(map[string]func(*rapid.T){
			"write": r.write, "change": r.change, "forget": r.forget, "restore": r.restore,
			"condense": r.condense, "undo": r.undo, "fade": r.fade, "purge": r.purge,
		})
		r.check(t)
	})
}

// check compares the lists of each past instant with its snapshot, without and
// with a filter.
func (r *run) check(t *rapid.T) {
	filters := []db.MemoryFilter{
		{Statuses: []memory.Status{memory.Active}},
		{Tags: []string{"a"}},
		{Types: []memory.Type{memory.TypeFact}, Domains: []memory.Domain{memory.GeneralChat}},
		{AnyTags: []string{"茶", "a"}, Statuses: memory.Statuses[1:]},
		{Where: where(t, `{"metadata":{"z":1.5}}`)},
		{Where: where(t, `{"metadata":{"z":null}}`), Tags: []string{"a"}},
	}
	left := map[string]bool{}
	for _, m := range r.all(t, r.owner) {
		left[m.ID] = true
	}
	for at, snapshot := range r.snapshots {
		snapshot = slices.DeleteFunc(snapshot, func(m memory.Memory) bool { return !left[m.ID] || m.CreatedAt.After(at) })
		for _, f := range []db.MemoryFilter{{}, filters[rapid.IntRange(0, len(filters)-1).Draw(t, "filter")]} {
			want := []memory.Memory{}
			for _, m := range snapshot {
				if matches(f, m) {
					want = append(want, recorded(m))
				}
			}
			f.Owner = r.owner
			f.AsOf = at
			f.Limit = 5
			if diff := cmp.Diff(want, r.pages(t, f)); diff != "" {
				t.Fatalf("as of %s, %+v (-want +got):\n%s", at, f, diff)
			}
		}
	}
}

func (r *run) pages(t *rapid.T, f db.MemoryFilter) []memory.Memory {
	all := []memory.Memory{}
	for {
		page, err := history.List(context.Background(), r.store, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page {
			all = append(all, recorded(m))
		}
		if len(page) < f.Limit {
			return all
		}
		last := page[len(page)-1]
		f.Before = &db.Position{At: last.CreatedAt, ID: last.ID}
	}
}

func where(t *rapid.T, raw string) *filter.Filter {
	f, fault := filter.Parse([]byte(raw))
	if fault != nil {
		t.Fatalf("%s: %s %s", raw, fault.Path, fault.Message)
	}
	return f
}

// matches is a second implementation of the filter.
func matches(f db.MemoryFilter, m memory.Memory) bool {
	for _, tag := range f.Tags {
		if !slices.Contains(m.Tags, tag) {
			return false
		}
	}
	anyTag := len(f.AnyTags) == 0
	for _, tag := range m.Tags {
		anyTag = anyTag || slices.Contains(f.AnyTags, tag)
	}
	return anyTag && f.Where.Matches(&m) && (f.Statuses == nil || slices.Contains(f.Statuses, m.Status)) &&
		(f.Unexpired.IsZero() || m.ExpiresAt.IsZero() || m.ExpiresAt.After(f.Unexpired)) &&
		(f.Types == nil || slices.Contains(f.Types, m.Type)) &&
		(f.Domains == nil || slices.Contains(f.Domains, m.Domain))
}

// recorded clears the fields that events do not record.
func recorded(m memory.Memory) memory.Memory {
	m.LastAccessedAt, m.AccessCount = time.Time{}, 0
	m.Lexemes = ""
	m.EmbeddingModel = ""
	m.Revision = 0
	return m
}
