package recall

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hippocampus/internal/memory"
)

// A vector store elsewhere is not asked about a few memories.
func TestFewAreComparedInTheDatabase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.remote, b.set.CompareLimit = true, 2
	b.add("Ada keeps bees", nil, true)
	b.add("Ada keeps goats", func(m *memory.Memory) { m.Domain = memory.Tasks }, true)
	b.now = begin.Add(time.Hour)
	recall := func(when string, searches int, q Query, want ...string) {
		t.Helper()
		b.searches, q.Text = nil, "bees"
		a := b.recall(q)
		if expect(t, a, want...); len(b.searches) != searches || len(a.Degraded) != 0 {
			t.Errorf("%s: %d searches, not %d; degraded: %v", when, len(b.searches), searches, a.Degraded)
		}
		for _, m := range a.Memories {
			if !slices.Contains(m.Sources, nameVectors) {
				t.Errorf("%s: %q is found by %v", when, m.Memory.Content, m.Sources)
			}
		}
	}
	both := []string{"Ada keeps bees", "Ada keeps goats"}
	recall("a user who is not known yet", 0, Query{}, both...)
	recall("known", 0, Query{}, both...)
	recall("known again", 0, Query{}, both...)
	recall("none is allowed", 0, Query{Types: []memory.Type{memory.TypeSummary}})

	b.add("Ada keeps wasps", nil, true)
	b.now = begin.Add(2 * time.Hour)
	all := append(both, "Ada keeps wasps")
	recall("too many, which is not known yet", 1, Query{}, all...)
	recall("too many", 1, Query{}, all...)
	recall("too many, again", 1, Query{}, all...)
	recall("few of them are allowed", 0, Query{Tags: []string{"no"}})

	b.remote = false
	recall("not worth being spared", 1, Query{Domains: []memory.Domain{memory.Tasks}}, "Ada keeps goats")
	b.remote, b.vectorsAway = true, true
	if a := b.recall(Query{Text: "bees", Domains: []memory.Domain{memory.Tasks}}); len(a.Memories) != 1 || !slices.Equal(a.Degraded, []string{partVectors}) {
		t.Errorf("while the vector store is away: %+v", a)
	}
}

// Whether the vector store was asked shows in no part of an answer.
func TestComparingChangesNoAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	rapid.Check(t, func(r *rapid.T) {
		b.now = begin
		owner := memory.Owner{AppID: ada.AppID, UserID: memory.NewID()}
		n := rapid.IntRange(0, 40).Draw(r, "memories")
		for i := range n {
			content := fmt.Sprintf("Ada keeps %s in hive%d", rapid.SampledFrom([]string{"bees", "wasps", "honey"}).Draw(r, "what"), i)
			b.add(content, func(m *memory.Memory) {
				m.Owner, m.Domain = owner, rapid.SampledFrom(memory.Domains).Draw(r, "domain")
				m.ConversationID = rapid.SampledFrom([]string{"", "spring", "autumn"}).Draw(r, "conversation")
			}, true)
		}
		b.now = begin.Add(time.Hour)
		spared := b.set
		spared.CompareLimit = rapid.IntRange(1, 40).Draw(r, "few")
		other := New(b.store, b, b, b, b.touches, spared, b.Service.now, b.log)
		for range 3 {
			q := Query{Owner: owner, Text: "who keeps bees?", Limit: rapid.IntRange(1, 12).Draw(r, "limit"), NoTouch: true}
			if rapid.Bool().Draw(r, "in a domain") {
				q.Domains = []memory.Domain{rapid.SampledFrom(memory.Domains).Draw(r, "asked domain")}
			}
			if rapid.Bool().Draw(r, "in a conversation") {
				q.ConversationID = "spring"
			}
			b.remote = false
			want, err := b.Recall(t.Context(), q)
			if err != nil {
				r.Fatal(err)
			}
			b.remote = true
			got, err := other.Recall(t.Context(), q)
			if err != nil {
				r.Fatal(err)
			}
			if !slices.EqualFunc(got.Memories, want.Memories, same) || len(got.Degraded) != 0 {
				r.Fatalf("of %d memories\n%v were recalled, not\n%v", n, contents(got), contents(want))
			}
		}
	})
}
