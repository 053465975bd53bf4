package history_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"pgregory.net/rapid"

	"hippocampus/db"
	"hippocampus/db/sqlite"
	"hippocampus/db/sqlite/sqlitetest"
	"hippocampus/forgetting"
	"hippocampus/ingest"
	"hippocampus/ingest/judge"
	"hippocampus/ingest/write"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
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
		Embedder: topics{},
		Pusher:   pusher,
		Writer: write.New(write.Parts{
			Records: f.store, Judge: topics{}, Embedder: topics{}, Vectors: vectors, Pusher: pusher, Now: f.now, Log: log,
		}, write.Settings{
			MergeSimilarity: 0.95, JudgeSimilarity: 0.8, JudgeTimeout: time.Minute,
			OwnWindow: 10 * time.Second, OwnLimit: 100, FallbackLimit: 100,
		}),
		Guess: func(string) memory.Domain { return memory.GeneralChat },
		Now:   f.now,
		Log:   log,
	}, ingest.Settings{})
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
