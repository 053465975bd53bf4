package history_test

import (
	"context"
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
	"hippocampus/reflection/derivation"
	"hippocampus/scorer"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/projection"
	"hippocampus/vectorstore/sqlitevec"
)

// topics embeds and judges contents of the form "topic variant": variants 0 and
// 1 of a topic are one memory, 2 and 3 are near, and the judge decides.
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

// parse reads "topic variant"; anything after them is ignored.
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

// world is what changes memories, on real SQLite stores.
type world struct {
	store  *sqlite.Store
	write  *ingest.Service
	derive *derivation.Service
	forget *forgetting.Service

	mu    sync.Mutex
	clock time.Time
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clock
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{clock: time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)}
	var err error
	if w.store, err = sqlite.Open(t.Context(), sqlite.Options{Path: sqlitetest.Path(t)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.store.Close() })
	if err := w.store.Migrate(t.Context()); err != nil {
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
	push := projection.New(w.store, vectors, projection.Settings{Lease: time.Minute, Backoff: time.Second, BackoffLimit: time.Minute}, w.now, log)
	w.write = ingest.New(ingest.Parts{
		Records: w.store, Scorer: scorer.NewRules(), Judge: topics{}, Embedder: topics{}, Vectors: vectors, Pusher: push,
		Guess: func(string, []string) memory.Domain { return memory.GeneralChat }, Now: w.now, Log: log,
	}, ingest.Settings{
		MergeSimilarity: 0.95, JudgeSimilarity: 0.8, JudgeTimeout: time.Minute, OwnWindow: 10 * time.Second, OwnLimit: 100, FallbackLimit: 100,
	})
	w.derive = derivation.New(w.store, push, topics{}, w.now)
	w.forget = forgetting.New(w.store, push, forgetting.Settings{
		Rule: forgetting.Rule{Policy: forgetting.Strengthening, Threshold: 0.3, Base: 0.9, Growth: 1.5}, MaxShare: 1, PurgeAfter: 30 * 24 * time.Hour,
	}, w.now, log)
	return w
}

// all lists every memory of an owner as it is, the newest first.
func (w *world) all(t *rapid.T, owner memory.Owner) []memory.Memory {
	list, err := w.store.ListMemories(context.Background(), db.MemoryFilter{Owner: owner, Limit: memory.MaxPage})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// life is the memories of one owner, who are changed at random.
type life struct {
	*world
	owner memory.Owner
	were  map[time.Time][]memory.Memory // after the last change at each instant
}

var lives int

// TestAsOfIsWhatWas looks back at every instant of random lives.
func TestAsOfIsWhatWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rapid.Check(t, func(t *rapid.T) {
		lives++
		l := &life{w, memory.Owner{AppID: "app", UserID: fmt.Sprint("user", lives)}, map[time.Time][]memory.Memory{}}
		t.Repeat(map[string]func(*rapid.T){
			"write": l.writes, "change": l.changes, "forget": l.forgets, "restore": l.restores,
			"condense": l.condenses, "undo": l.undoes, "fade": l.fades, "purge": l.purges,
		})
		l.looksBack(t)
	})
}

// step moves the clock, does something, and notes what there is then.
func (l *life) step(t *rapid.T, do func(ctx context.Context) error) {
	l.mu.Lock()
	l.clock = l.clock.Add(rapid.SampledFrom([]time.Duration{0, time.Microsecond, time.Hour, 20 * 24 * time.Hour}).Draw(t, "later"))
	l.mu.Unlock()
	if err := do(context.Background()); err != nil && !memory.IsKind(err, memory.KindConflict) {
		t.Fatal(err)
	}
	l.were[l.now()] = l.all(t, l.owner)
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

func (l *life) writes(t *rapid.T) {
	var list []ingest.Write
	for range rapid.IntRange(1, 3).Draw(t, "writes") {
		importance := anyImportance.Draw(t, "importance")
		w := ingest.Write{
			Owner: l.owner, Content: anyContent.Draw(t, "content"), Importance: &importance, Tags: anyTags.Draw(t, "tags"),
			Metadata: metadataOf(anyMetadata.Draw(t, "metadata")), Pinned: rapid.Bool().Draw(t, "pinned"), Dedup: rapid.Bool().Draw(t, "dedup"),
		}
		if rapid.Bool().Draw(t, "dated") {
			w.At = l.now().Add(time.Duration(rapid.IntRange(-48, 48).Draw(t, "at")) * time.Hour)
		}
		list = append(list, w)
	}
	l.step(t, func(ctx context.Context) error {
		for _, r := range l.write.WriteBatch(ctx, list) {
			if r.Err != nil {
				return r.Err
			}
		}
		return nil
	})
}

// one of the memories that are there.
func (l *life) one(t *rapid.T) memory.Memory {
	list := l.all(t, l.owner)
	if len(list) == 0 {
		t.Skip("no memory yet")
	}
	return list[rapid.IntRange(0, len(list)-1).Draw(t, "memory")]
}

func (l *life) changes(t *rapid.T) {
	m, c := l.one(t), ingest.Change{}
	content, tags, metadata := anyContent.Draw(t, "content"), anyTags.Draw(t, "tags"), metadataOf(anyMetadata.Draw(t, "metadata"))
	importance, pinned, domain, kind := anyImportance.Draw(t, "importance"), rapid.Bool().Draw(t, "pinned"), memory.Tasks, memory.Type("task")
	for i, set := range []func(){
		func() { c.Content = &content }, func() { c.Tags = &tags }, func() { raw := memory.Memory{Metadata: metadata}.Metadata; c.Metadata = &raw },
		func() { c.Importance = &importance }, func() { c.Pinned = &pinned }, func() { c.Domain = &domain }, func() { c.Type = &kind },
	} {
		if rapid.Bool().Draw(t, fmt.Sprint("field ", i)) {
			set()
		}
	}
	l.step(t, func(ctx context.Context) error {
		_, err := l.write.Change(ctx, "app", m.ID, c)
		return err
	})
}

func (l *life) forgets(t *rapid.T) {
	m := l.one(t)
	l.step(t, func(ctx context.Context) error { _, err := l.write.Forget(ctx, "app", m.ID); return err })
}

func (l *life) restores(t *rapid.T) {
	m := l.one(t)
	l.step(t, func(ctx context.Context) error { _, err := l.write.Restore(ctx, "app", m.ID); return err })
}

func (l *life) condenses(t *rapid.T) {
	sources := slices.DeleteFunc(l.all(t, l.owner), func(m memory.Memory) bool { return m.Status != memory.Active })
	if len(sources) < 2 {
		t.Skip("too little to condense")
	}
	sources = sources[:2]
	l.step(t, func(ctx context.Context) error {
		vectors, _ := topics{}.Embed(ctx, llm.ForDocument, []string{"3 0"})
		insight := l.derive.Draft(l.owner, "3 0 insight", memory.TypeReflection, memory.Tasks, 0.9, vectors[0])
		ids := []string{sources[0].ID, sources[1].ID}
		return l.derive.Commit(ctx, derivation.Derivation{
			Owner: l.owner, Cause: "test", Derived: []derivation.Derived{{Memory: insight, Sources: ids}}, Sources: sources, Retire: ids,
		})
	})
}

func (l *life) undoes(t *rapid.T) {
	for _, m := range l.all(t, l.owner) {
		if strings.HasSuffix(m.Content, "insight") && m.Type == memory.TypeReflection {
			l.step(t, func(ctx context.Context) error { _, _, err := l.derive.Undo(ctx, "app", m.ID); return err })
			return
		}
	}
	t.Skip("nothing to undo")
}

func (l *life) fades(t *rapid.T) {
	l.step(t, func(ctx context.Context) error { _, err := l.forget.Run(ctx, l.owner, "test", true); return err })
}

func (l *life) purges(t *rapid.T) {
	l.step(t, func(ctx context.Context) error { _, err := l.forget.Purge(ctx, "test"); return err })
}

// looksBack compares each instant with what was noted then, whole and filtered.
func (l *life) looksBack(t *rapid.T) {
	filters := []db.MemoryFilter{
		{Statuses: []memory.Status{memory.Active}}, {Tags: []string{"a"}}, {Types: []memory.Type{memory.TypeFact}, Domains: []memory.Domain{memory.GeneralChat}},
		{AnyTags: []string{"茶", "a"}, Statuses: memory.Statuses[1:]},
	}
	left := map[string]bool{}
	for _, m := range l.all(t, l.owner) {
		left[m.ID] = true
	}
	for at, were := range l.were {
		were = slices.DeleteFunc(were, func(m memory.Memory) bool { return !left[m.ID] || m.CreatedAt.After(at) })
		for _, f := range []db.MemoryFilter{{}, filters[rapid.IntRange(0, len(filters)-1).Draw(t, "filter")]} {
			want := []memory.Memory{}
			for _, m := range were {
				if keeps(f, m) {
					want = append(want, shown(m))
				}
			}
			f.Owner, f.AsOf, f.Limit = l.owner, at, 5
			if diff := cmp.Diff(want, l.pages(t, f)); diff != "" {
				t.Fatalf("as of %s, %+v (-was +told):\n%s", at, f, diff)
			}
		}
	}
}

func (l *life) pages(t *rapid.T, f db.MemoryFilter) []memory.Memory {
	all := []memory.Memory{}
	for {
		page, err := history.List(context.Background(), l.store, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page {
			all = append(all, shown(m))
		}
		if len(page) < f.Limit {
			return all
		}
		last := page[len(page)-1]
		f.Before = &db.Position{At: last.CreatedAt, ID: last.ID}
	}
}

// keeps is the filter in other words.
func keeps(f db.MemoryFilter, m memory.Memory) bool {
	for _, tag := range f.Tags {
		if !slices.Contains(m.Tags, tag) {
			return false
		}
	}
	any := len(f.AnyTags) == 0
	for _, tag := range m.Tags {
		any = any || slices.Contains(f.AnyTags, tag)
	}
	return any && (f.Statuses == nil || slices.Contains(f.Statuses, m.Status)) && (f.Types == nil || slices.Contains(f.Types, m.Type)) &&
		(f.Domains == nil || slices.Contains(f.Domains, m.Domain))
}

// shown is what a history follows, with what never changes.
func shown(m memory.Memory) memory.Memory {
	m.LastAccessedAt, m.AccessCount, m.Lexemes, m.EmbeddingModel, m.Revision = time.Time{}, 0, "", "", 0
	return m
}

func TestAtByHand(t *testing.T) {
	t.Parallel()
	at := func(hour int) time.Time { return time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC) }
	event := func(hour int, kind memory.EventKind, detail string) memory.Event {
		return memory.Event{Kind: kind, At: at(hour), Detail: metadataOf(detail)}
	}
	now := memory.Memory{
		Content: "third", Importance: 0.9, Tags: []string{"x"}, Metadata: []byte(`{"a":1}`), Pinned: true, Status: memory.Superseded, SupersededBy: "id",
		CreatedAt: at(1), UpdatedAt: at(4),
	}
	events := []memory.Event{
		event(1, memory.EventCreated, ""),
		event(2, memory.EventMerged, `{"change":{"from":{"content":"first","importance":0.5},"to":{"content":"second","importance":0.9}},"similarity":0.97}`),
		event(3, memory.EventUpdated, `{"from":{"content":"second","tags":[],"metadata":null,"pinned":false},"to":{"content":"third","tags":["x"],"metadata":{"a":1},"pinned":true}}`),
		event(4, memory.EventSuperseded, `{"change":{"from":{"status":"active","superseded_by":""},"to":{"status":"superseded","superseded_by":"id"}},"relation":"refines"}`),
	}
	second := memory.Memory{Content: "second", Importance: 0.9, Status: memory.Active, CreatedAt: at(1), UpdatedAt: at(2)}
	first := memory.Memory{Content: "first", Importance: 0.5, Status: memory.Active, CreatedAt: at(1), UpdatedAt: at(1)}
	third := now
	third.Status, third.SupersededBy, third.UpdatedAt = memory.Active, "", at(3)
	for what, c := range map[string]struct {
		events []memory.Event
		at     time.Time
		want   memory.Memory
		gone   bool
	}{
		"later":                     {events, at(5), now, false},
		"at the last event":         {events, at(4), now, false},
		"before it":                 {events, at(4).Add(-1), third, false},
		"before two":                {events, at(2), second, false},
		"before three":              {events, at(1), first, false},
		"before its creation":       {events, at(1).Add(-1), first, true},
		"without a history":         {nil, at(1), now, false},
		"... before its date":       {nil, at(0), now, true},
		"an unknown kind of detail": {[]memory.Event{events[0], event(3, memory.EventUpdated, `{"from":"elsewhere"}`)}, at(4), now, false},
		"... undone": {[]memory.Event{events[0], event(3, memory.EventUpdated, `{"from":"elsewhere"}`)}, at(2), memory.Memory{
			Content: "third", Importance: 0.9, Tags: now.Tags, Metadata: now.Metadata, Pinned: true, Status: memory.Superseded, SupersededBy: "id", CreatedAt: at(1), UpdatedAt: at(1)}, false},
	} {
		then, there := history.At(now, c.events, c.at)
		if there == c.gone {
			t.Errorf("%s: there is %t", what, there)
		}
		if diff := cmp.Diff(c.want, then); there && diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	back := append(slices.Clone(events), event(6, memory.EventPurged, ""), event(8, memory.EventUpdated, ""))
	for hour, want := range map[int]bool{5: true, 6: false, 7: false, 8: true} {
		if _, there := history.At(now, back, at(hour)); there != want {
			t.Errorf("purged at 6, back by 8: at %d there is %t", hour, there)
		}
	}
}
