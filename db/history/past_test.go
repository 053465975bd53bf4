package history_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"pgregory.net/rapid"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/db/sqlite"
	"hippocampus/db/sqlite/sqlitetest"
	"hippocampus/forgetting"
	"hippocampus/ingest"
	"hippocampus/ingest/judge"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/memory/filter"
	"hippocampus/reflection/derivation"
	"hippocampus/scorer"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/projection"
	"hippocampus/vectorstore/sqlitevec"
)

// topics embeds and judges contents of the form "topic variant". Variants 0 and 1
// of a topic are duplicates; the judge decides about 2 and 3, which are similar.
type topics struct{}

var variants = []float32{1, 0.98, 0.9, 0.85} // cosines to the topic

func (topics) Model() string { return "topics" }
func (topics) Dim() int      { return 8 }

func (topics) Embed(_ context.Context, _ llm.Use, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		v := make([]float32, 8)
		topic, variant := parse(text)
		c := float64(variants[variant])
		v[topic], v[4+topic] = float32(c), float32(math.Sqrt(1-c*c))
		vectors[i] = v
	}
	return vectors, nil
}

// parse reads "topic variant" and ignores the rest.
func parse(text string) (topic, variant int) {
	_, _ = fmt.Sscanf(text, "%d %d", &topic, &variant)
	return topic, variant
}

func (topics) Judge(_ context.Context, draft memory.Memory, near []memory.Memory) ([]judge.Verdict, error) {
	verdicts := make([]judge.Verdict, len(near))
	for i := range near {
		switch _, variant := parse(draft.Content); {
		case variant == 3 && i == 0:
			verdicts[i] = judge.Verdict{Decision: judge.Merge, Merged: draft.Content + " and more"}
		case variant == 2:
			verdicts[i] = judge.Verdict{Decision: judge.Replace, Relation: memory.Refines}
		default:
			verdicts[i] = judge.Verdict{Decision: judge.KeepBoth}
		}
	}
	return verdicts, nil
}

// fixture holds the services that change memories, on SQLite stores.
type fixture struct {
	store      *sqlite.Store
	ingest     *ingest.Service
	derivation *derivation.Service
	forgetting *forgetting.Service

	mu    sync.Mutex
	clock time.Time
}

func (f *fixture) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clock
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{clock: time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)}
	var err error
	if f.store, err = sqlite.Open(t.Context(), sqlite.Options{Path: sqlitetest.Path(t)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.store.Close() })
	if err := f.store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	vectors, err := sqlitevec.Open(t.Context(), sqlitevec.Options{
		Path: filepath.Join(t.TempDir(), "vectors.db"), Space: vectorstore.Space{Model: "topics", Dim: 8},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = vectors.Close() })
	log := zap.NewNop()
	pusher := projection.New(f.store, vectors, projection.Settings{
		Lease:        time.Minute,
		Backoff:      time.Second,
		BackoffLimit: time.Minute,
	}, f.now, log)
	f.ingest = ingest.New(ingest.Parts{
		Records:  f.store,
		Scorer:   scorer.NewRules(),
		Judge:    topics{},
		Embedder: topics{},
		Vectors:  vectors,
		Pusher:   pusher,
		Guess:    func(string) memory.Domain { return memory.GeneralChat },
		Now:      f.now,
		Log:      log,
	}, ingest.Settings{
		MergeSimilarity: 0.95,
		JudgeSimilarity: 0.8,
		JudgeTimeout:    time.Minute,
		OwnWindow:       10 * time.Second,
		OwnLimit:        100,
		FallbackLimit:   100,
	})
	f.derivation = derivation.New(f.store, pusher, topics{}, f.now)
	f.forgetting = forgetting.New(f.store, pusher, forgetting.Settings{
		Rule:       forgetting.Rule{Policy: forgetting.Strengthening, Threshold: 0.3, Base: 0.9, Growth: 1.5, MaxShare: 1},
		PurgeAfter: 30 * 24 * time.Hour,
	}, f.now, log)
	return f
}

// all lists every memory of an owner, the newest first.
func (f *fixture) all(t *rapid.T, owner memory.Owner) []memory.Memory {
	list, err := f.store.ListMemories(context.Background(), db.MemoryFilter{Owner: owner, Limit: memory.MaxPage})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// run changes the memories of one owner at random.
type run struct {
	*fixture
	owner     memory.Owner
	snapshots map[time.Time][]memory.Memory // after the last change at each instant
}

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

// step advances the clock, runs do, and takes a snapshot of the memories.
func (r *run) step(t *rapid.T, do func(ctx context.Context) error) {
	r.mu.Lock()
	steps := []time.Duration{0, time.Microsecond, time.Hour, 20 * 24 * time.Hour}
	r.clock = r.clock.Add(rapid.SampledFrom(steps).Draw(t, "later"))
	r.mu.Unlock()
	if err := do(context.Background()); err != nil && !memory.IsKind(err, memory.KindConflict) {
		t.Fatal(err)
	}
	r.snapshots[r.now()] = r.all(t, r.owner)
}

var (
	anyContent = rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "topic"), " ", rapid.IntRange(0, 3).Draw(t, "variant"))
	})
	anyTags       = rapid.SampledFrom([][]string{nil, {"a"}, {"b", "茶"}, {"a", "b"}})
	anyMetadata   = rapid.SampledFrom([]string{"", `{}`, `{"z":1.50,"a":"<&>\u2028é"}`})
	anyImportance = rapid.Float64Range(0, 1)
)

func metadataOf(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(text)
}

func (r *run) write(t *rapid.T) {
	var list []ingest.Write
	for range rapid.IntRange(1, 3).Draw(t, "writes") {
		importance := anyImportance.Draw(t, "importance")
		w := ingest.Write{
			Owner:      r.owner,
			Content:    anyContent.Draw(t, "content"),
			Importance: &importance,
			Tags:       anyTags.Draw(t, "tags"),
			Metadata:   metadataOf(anyMetadata.Draw(t, "metadata")),
			Pinned:     rapid.Bool().Draw(t, "pinned"),
			Dedup:      rapid.Bool().Draw(t, "dedup"),
		}
		if rapid.Bool().Draw(t, "dated") {
			w.At = r.now().Add(time.Duration(rapid.IntRange(-48, 48).Draw(t, "at")) * time.Hour)
		}
		list = append(list, w)
	}
	r.step(t, func(ctx context.Context) error {
		for _, r := range r.ingest.WriteBatch(ctx, list) {
			if r.Err != nil {
				return r.Err
			}
		}
		return nil
	})
}

// one draws one of the owner's memories.
func (r *run) one(t *rapid.T) memory.Memory {
	list := r.all(t, r.owner)
	if len(list) == 0 {
		t.Skip("no memory yet")
	}
	return list[rapid.IntRange(0, len(list)-1).Draw(t, "memory")]
}

func (r *run) change(t *rapid.T) {
	m, c := r.one(t), ingest.Change{}
	content := anyContent.Draw(t, "content")
	tags := anyTags.Draw(t, "tags")
	metadata := json.RawMessage(metadataOf(anyMetadata.Draw(t, "metadata")))
	importance := anyImportance.Draw(t, "importance")
	pinned := rapid.Bool().Draw(t, "pinned")
	domain := memory.Tasks
	kind := memory.Type("task")
	for i, set := range []func(){
		func() { c.Content = &content },
		func() { c.Tags = &tags },
		func() { c.Metadata = &metadata },
		func() { c.Importance = &importance },
		func() { c.Pinned = &pinned },
		func() { c.Domain = &domain },
		func() { c.Type = &kind },
	} {
		if rapid.Bool().Draw(t, fmt.Sprint("field ", i)) {
			set()
		}
	}
	r.step(t, func(ctx context.Context) error {
		_, err := r.ingest.Change(ctx, "app", m.ID, c)
		return err
	})
}

func (r *run) forget(t *rapid.T) {
	m := r.one(t)
	r.step(t, func(ctx context.Context) error { _, err := r.ingest.Forget(ctx, "app", m.ID); return err })
}

func (r *run) restore(t *rapid.T) {
	m := r.one(t)
	r.step(t, func(ctx context.Context) error { _, err := r.ingest.Restore(ctx, "app", m.ID); return err })
}

func (r *run) condense(t *rapid.T) {
	sources := slices.DeleteFunc(r.all(t, r.owner), func(m memory.Memory) bool { return m.Status != memory.Active })
	if len(sources) < 2 {
		t.Skip("too little to condense")
	}
	sources = sources[:2]
	r.step(t, func(ctx context.Context) error {
		vectors, _ := topics{}.Embed(ctx, llm.ForDocument, []string{"3 0"})
		insight := r.derivation.Draft(r.owner, "3 0 insight", memory.TypeReflection, memory.Tasks, 0.9, vectors[0])
		ids := []string{sources[0].ID, sources[1].ID}
		return r.derivation.Commit(ctx, derivation.Derivation{
			Owner:   r.owner,
			Cause:   "test",
			Derived: []derivation.Derived{{Memory: insight, Sources: ids}},
			Sources: sources,
			Retire:  ids,
		})
	})
}

func (r *run) undo(t *rapid.T) {
	for _, m := range r.all(t, r.owner) {
		if strings.HasSuffix(m.Content, "insight") && m.Type == memory.TypeReflection {
			r.step(t, func(ctx context.Context) error { _, _, err := r.derivation.Undo(ctx, "app", m.ID); return err })
			return
		}
	}
	t.Skip("nothing to undo")
}

func (r *run) fade(t *rapid.T) {
	r.step(t, func(ctx context.Context) error { _, err := r.forgetting.Run(ctx, r.owner, "test", true); return err })
}

func (r *run) purge(t *rapid.T) {
	r.step(t, func(ctx context.Context) error { _, err := r.forgetting.Purge(ctx, "test"); return err })
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

func TestAt_UndoesLaterEvents(t *testing.T) {
	t.Parallel()
	at := func(hour int) time.Time { return time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC) }
	event := func(hour int, kind memory.EventKind, detail string) memory.Event {
		return memory.Event{Kind: kind, At: at(hour), Detail: metadataOf(detail)}
	}
	now := memory.Memory{
		Content:      "third",
		Importance:   0.9,
		Tags:         []string{"x"},
		Metadata:     []byte(`{"a":1}`),
		Pinned:       true,
		Status:       memory.Superseded,
		SupersededBy: "id",
		CreatedAt:    at(1),
		UpdatedAt:    at(4),
	}
	events := []memory.Event{
		event(1, memory.EventCreated, ""),
		event(2, memory.EventMerged, `{"change":{"from":{"content":"first","importance":0.5},
			"to":{"content":"second","importance":0.9}},"similarity":0.97}`),
		event(3, memory.EventUpdated, `{"from":{"content":"second","tags":[],"metadata":null,"pinned":false},
			"to":{"content":"third","tags":["x"],"metadata":{"a":1},"pinned":true}}`),
		event(4, memory.EventSuperseded, `{"change":{"from":{"status":"active","superseded_by":""},
			"to":{"status":"superseded","superseded_by":"id"}},"relation":"refines"}`),
	}
	unknownDetail := []memory.Event{events[0], event(3, memory.EventUpdated, `{"from":"elsewhere"}`)}
	second := memory.Memory{Content: "second", Importance: 0.9, Status: memory.Active, CreatedAt: at(1), UpdatedAt: at(2)}
	first := memory.Memory{Content: "first", Importance: 0.5, Status: memory.Active, CreatedAt: at(1), UpdatedAt: at(1)}
	third := now
	third.Status = memory.Active
	third.SupersededBy = ""
	third.UpdatedAt = at(3)
	untouched := now
	untouched.UpdatedAt = at(1)
	for name, c := range map[string]struct {
		events []memory.Event
		at     time.Time
		want   *memory.Memory // nil: the memory did not exist
	}{
		"after all events":                    {events, at(5), &now},
		"at the last event":                   {events, at(4), &now},
		"one event undone":                    {events, at(4).Add(-1), &third},
		"two events undone":                   {events, at(2), &second},
		"three events undone":                 {events, at(1), &first},
		"before creation":                     {events, at(1).Add(-1), nil},
		"no events":                           {nil, at(1), &now},
		"no events, before CreatedAt":         {nil, at(0), nil},
		"unknown detail":                      {unknownDetail, at(4), &now},
		"event with unknown detail is undone": {unknownDetail, at(2), &untouched},
	} {
		t.Run(name, func(t *testing.T) {
			then, existed := history.At(now, c.events, c.at)
			if existed != (c.want != nil) {
				t.Errorf("existed is %t", existed)
			}
			if !existed || c.want == nil {
				return
			}
			if diff := cmp.Diff(*c.want, then); diff != "" {
				t.Errorf("memory (-want +got):\n%s", diff)
			}
		})
	}
	restored := append(slices.Clone(events), event(6, memory.EventPurged, ""), event(8, memory.EventUpdated, ""))
	for hour, want := range map[int]bool{5: true, 6: false, 7: false, 8: true} {
		if _, existed := history.At(now, restored, at(hour)); existed != want {
			t.Errorf("purged at 6, restored at 8: existed at %d is %t", hour, existed)
		}
	}
}
