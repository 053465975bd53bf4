package recall

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

func TestRecall_SearchesFewMemoriesInTheDatabase(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.remote, f.set.CompareLimit = true, 2
	f.add("Ada keeps bees", nil, true)
	f.add("Ada keeps goats", func(m *memory.Memory) { m.Domain = memory.Tasks }, true)
	f.now = begin.Add(time.Hour)
	recall := func(when string, searches int, q Query, want ...string) {
		t.Helper()
		f.searches, q.Text = nil, "bees"
		a := f.recall(q)
		expect(t, a, want...)
		if len(f.searches) != searches || len(a.Degraded) != 0 {
			t.Errorf("%s: %d searches, not %d; degraded: %v", when, len(f.searches), searches, a.Degraded)
		}
		for _, m := range a.Memories {
			if !slices.Contains(m.Sources, nameVectors) {
				t.Errorf("%s: %q is found by %v", when, m.Memory.Content, m.Sources)
			}
		}
	}
	both := []string{"Ada keeps bees", "Ada keeps goats"}
	recall("without an index", 0, Query{}, both...)
	recall("with an index", 0, Query{}, both...)
	recall("with the index again", 0, Query{}, both...)
	recall("no memory passes the filters", 0, Query{Types: []memory.Type{memory.TypeSummary}})

	f.add("Ada keeps wasps", nil, true)
	f.now = begin.Add(2 * time.Hour)
	all := slices.Concat(both, []string{"Ada keeps wasps"})
	recall("too many, but the index is outdated", 1, Query{}, all...)
	recall("too many", 1, Query{}, all...)
	recall("too many, again", 1, Query{}, all...)
	recall("too many, but few pass the filters", 0, Query{Tags: []string{"no"}})

	f.remote = false
	recall("the vector store is not remote", 1, Query{Domains: []memory.Domain{memory.Tasks}}, "Ada keeps goats")
	f.remote, f.vectorsDown = true, true
	a := f.recall(Query{Text: "bees", Domains: []memory.Domain{memory.Tasks}})
	if len(a.Memories) != 1 || !slices.Equal(a.Degraded, []string{partVectors}) {
		t.Errorf("while the vector store is unavailable: %+v", a)
	}
}

// loadedFirst embeds only when the changes of the owner are being read, so that the stored index has been read before.
type loadedFirst struct {
	*fixture
	loads chan struct{}

	Records
	embeddings int // reads of all embeddings of the owner
}

func (l *loadedFirst) Embed(ctx context.Context, use llm.Use, texts []string) ([][]float32, error) {
	<-l.loads
	return l.fixture.Embed(ctx, use, texts)
}

func (l *loadedFirst) Changes(
	ctx context.Context, owner memory.Owner, after int64, since time.Time, limit int,
) (db.Changes, error) {
	close(l.loads)
	return l.Records.Changes(ctx, owner, after, since, limit)
}

func (l *loadedFirst) EachEmbedding(
	ctx context.Context, owner memory.Owner, model string, limit int, f func(string, []float32),
) error {
	l.embeddings++
	return l.Records.EachEmbedding(ctx, owner, model, limit, f)
}

func TestRecall_AsksTheVectorStoreOfAUserWhoseStoredIndexIsLarge(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.remote, f.set.CompareLimit = true, 200
	f.add("Ada keeps bees", nil, true)
	f.insertMany(leastStored)
	f.now = begin.Add(time.Hour)
	for what, want := range map[string]struct {
		records    Records
		embeddings int
	}{"stored": {f.store, 0}, "not stored": {withoutStored{f.store}, 1}} {
		f.Service = f.restarted(f.store)
		f.recall(Query{Text: "bees"})
		f.runOnce()
		l := &loadedFirst{fixture: f, loads: make(chan struct{}), Records: want.records}
		first := New(l, f, f, l, f.touches, f.set, f.Service.now, f.log)
		a, err := first.Recall(t.Context(), Query{Owner: ada, Text: "bees", Limit: 1})
		if err != nil || len(a.Memories) != 1 || l.embeddings != want.embeddings {
			t.Errorf("%s: %d reads of all embeddings for %+v, %v", what, l.embeddings, a, err)
		}
	}
}

func TestRecall_SearchingInTheDatabaseChangesNoAnswer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	rapid.Check(t, func(r *rapid.T) {
		f.now = begin
		owner := memory.Owner{AppID: ada.AppID, UserID: memory.NewID()}
		n := rapid.IntRange(0, 40).Draw(r, "memories")
		for i := range n {
			what := rapid.SampledFrom([]string{"bees", "wasps", "honey"}).Draw(r, "what")
			f.add(fmt.Sprintf("Ada keeps %s in hive%d", what, i), func(m *memory.Memory) {
				m.Owner, m.Domain = owner, rapid.SampledFrom(memory.Domains).Draw(r, "domain")
				m.ConversationID = rapid.SampledFrom([]string{"", "spring", "autumn"}).Draw(r, "conversation")
			}, true)
		}
		f.now = begin.Add(time.Hour)
		settings := f.set
		settings.CompareLimit = rapid.IntRange(1, 40).Draw(r, "compare limit")
		other := New(f.store, f, f, f, f.touches, settings, f.Service.now, f.log)
		for range 3 {
			q := Query{
				Owner: owner, Text: "who keeps bees?", Limit: rapid.IntRange(1, 12).Draw(r, "limit"), NoTouch: true,
			}
			if rapid.Bool().Draw(r, "in a domain") {
				q.Domains = []memory.Domain{rapid.SampledFrom(memory.Domains).Draw(r, "asked domain")}
			}
			if rapid.Bool().Draw(r, "in a conversation") {
				q.ConversationID = "spring"
			}
			f.remote = false
			want, err := f.Recall(t.Context(), q)
			if err != nil {
				r.Fatal(err)
			}
			f.remote = true
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
