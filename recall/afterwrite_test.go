package recall

import (
	"context"
	"fmt"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
	"hippocampus/router"
	"hippocampus/tests/apptest"
	"hippocampus/vectorstore"
)

// Recalls of a user of n memories on SQLite: alone, within a trace, right after a write, and without an index.
func BenchmarkRecall(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		f := &fixture{now: time.Now(), routed: router.Route{Source: "test"}}
		f.store = apptest.SQLite(b)
		f.vectors = apptest.Vectors(b, hashed)
		docs := manyDocuments(n)
		write := func(d db.Document) {
			vectors, _ := hashed.Embed(b.Context(), llm.ForDocument, []string{d.Content})
			m := memory.Memory{
				ID: memory.NewID(), Owner: ada, Content: d.Content, Lexemes: d.Lexemes, ConversationID: d.ConversationID,
				Type: memory.TypeFact, Domain: memory.Lifestyle, Importance: 0.8, Status: memory.Active,
				Embedding: vectors[0], EmbeddingModel: hashed.Model(), Revision: 1,
				CreatedAt: d.CreatedAt, UpdatedAt: d.CreatedAt, LastAccessedAt: d.CreatedAt,
			}
			if err := f.store.InUser(b.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
				return tx.Insert(ctx, []memory.Memory{m}, begin)
			}); err != nil {
				b.Fatal(err)
			}
			if err := f.vectors.Insert(b.Context(), []vectorstore.Record{vectorstore.RecordOf(m)}); err != nil {
				b.Fatal(err)
			}
			if err := f.store.FinishVectors(b.Context(), []db.VectorTask{{Memory: m, Claim: 1}}, begin); err != nil {
				b.Fatal(err)
			}
		}
		for _, d := range docs {
			write(d)
		}
		f.Service = New(f.store, f, f, f, NewTouches(f.store, time.Hour, zap.NewNop()), Settings{
			Mode: Modulated, Weights: defaults, DecayRate: 0.99, Lift: lift, Cues: cueWeights, LexicalFloor: 0.3,
			Words: 0.5, Contrast: 3, BM25: BM25{K1: 1.2, B: 0.4}, Candidates: 50, OwnWindow: 10 * time.Second,
			OwnLimit: 100, FallbackLimit: 1000, VectorTimeout: time.Minute, EmbedTimeout: time.Minute,
			QueryCache: 1 << 20, IndexCache: 28 << 20,
		}, time.Now, zap.NewNop())
		k, ctx := 0, b.Context()
		recall := func() {
			k++
			q := Query{Owner: ada, Limit: 10}
			q.Text = fmt.Sprintf("What did Nora say about w3 and w%d in w%d or w%d?", k%20, k%240, k%5000)
			if _, err := f.Recall(ctx, q); err != nil {
				b.Fatal(err)
			}
		}
		recall()
		b.Run(fmt.Sprint("alone/", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				recall()
			}
		})
		b.Run(fmt.Sprint("traced/", n), func(b *testing.B) {
			b.ReportAllocs()
			provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(tracetest.NewNoopExporter()))
			defer provider.Shutdown(b.Context())
			for b.Loop() {
				traced, root := tracing.Root(tracing.With(b.Context(), provider), "request", trace.SpanContext{})
				ctx = traced
				recall()
				root.End()
			}
			ctx = b.Context()
		})
		b.Run(fmt.Sprint("after a write/", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				write(docs[k%len(docs)])
				b.StartTimer()
				recall()
			}
		})
		first := func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.indexes.Purge()
				recall()
			}
		}
		b.Run(fmt.Sprint("first/", n), first)
		if n < leastStored {
			continue
		}
		x, err := f.stored(b.Context(), ada, time.UTC)
		if err != nil || len(x.docs) > 0 {
			b.Fatalf("%v, %d documents", err, len(x.docs))
		}
		f.indexes.Purge()
		for len(f.saves) > 0 {
			<-f.saves
		}
		recall()
		ended, cancel := context.WithCancel(b.Context())
		cancel()
		f.Run(ended) // stores what waits
		if x, err = f.stored(b.Context(), ada, time.UTC); err != nil || x.revision == 0 {
			b.Fatalf("the index is not stored: %v", err)
		}
		data, _ := x.encode()
		b.Run(fmt.Sprint("first with a stored index/", n), func(b *testing.B) {
			first(b)
			b.ReportMetric(float64(len(data))/float64(n), "stored-B/memory")
		})
	}
}
