package recall

import (
	"context"
	"slices"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/router"
	"hippocampus/vectorstore"
)

// stuck is every part of a recall, and answers no call before its context ends.
type stuck struct {
	*fixture
	embedder, vectors, router, database bool // which parts are stuck
}

func (s *stuck) Embed(ctx context.Context, use llm.Use, texts []string) ([][]float32, error) {
	if s.embedder {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return s.fixture.Embed(ctx, use, texts)
}

func (s *stuck) Search(ctx context.Context, q vectorstore.Query) ([]vectorstore.Hit, error) {
	if s.vectors {
		<-ctx.Done()
		return nil, memory.Errorf(memory.KindUnavailable, "stuck: %w", context.Cause(ctx))
	}
	return s.fixture.Search(ctx, q)
}

func (s *stuck) Route(ctx context.Context, query string) router.Route {
	if s.router {
		<-ctx.Done()
		return router.Route{Source: "rules", Degraded: true}
	}
	return s.fixture.Route(ctx, query)
}

// stuckRecords is a database whose reads of whole memories are stuck.
type stuckRecords struct {
	Records
	stuck *stuck
}

func (r stuckRecords) Recalled(ctx context.Context, owner memory.Owner, whole, rest []string) (db.Recalled, error) {
	if r.stuck.database {
		<-ctx.Done()
		return db.Recalled{}, context.Cause(ctx)
	}
	return r.Records.Recalled(ctx, owner, whole, rest)
}

func newStuck(t *testing.T, timeout time.Duration, model llm.Reranker) *stuck {
	f := newFixture(t)
	f.add("bees fly far", nil, true)
	f.add("bees sting", nil, true)
	s := &stuck{fixture: f}
	f.Service.vectors, f.Service.embedder, f.Service.router = s, s, s
	f.Service.records = stuckRecords{f.store, s}
	f.set.Timeout = timeout
	f.set.Rerank = Rerank{Model: model, Candidates: 3, Share: 0.5, Timeout: time.Minute}
	return s
}

// Recall would wait a minute for each part alone.
func TestRecall_WaitsForSlowPartsWithinItsTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		parts    stuck
		hangs    bool // the reranker
		degraded []string
	}{
		"embedder":                  {stuck{embedder: true}, false, []string{partEmbedder}},
		"router":                    {stuck{router: true}, false, []string{partRouter}},
		"vector store":              {stuck{vectors: true}, false, []string{partVectors}},
		"reranker":                  {stuck{}, true, []string{partReranker}},
		"embedder and router":       {stuck{embedder: true, router: true}, false, []string{partEmbedder, partRouter}},
		"vector store and reranker": {stuck{vectors: true}, true, []string{partVectors, partReranker}},
		"router, vector store and reranker": {
			stuck{router: true, vectors: true}, true, []string{partVectors, partRouter, partReranker},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const timeout = 6 * time.Second
			s := newStuck(t, timeout, &fakeReranker{hangs: c.hangs})
			s.embedder, s.router, s.vectors = c.parts.embedder, c.parts.router, c.parts.vectors
			start := time.Now()
			a := s.recall(Query{Text: "bees"})
			if took := time.Since(start); took > timeout {
				t.Errorf("the recall took %v", took)
			}
			expect(t, a, "bees fly far", "bees sting")
			if !slices.Equal(a.Degraded, c.degraded) {
				t.Errorf("degraded: %q, want %q", a.Degraded, c.degraded)
			}
		})
	}
}

func TestRecall_FailsAfterItsTimeWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	s := newStuck(t, 50*time.Millisecond, nil)
	s.database, s.set.Rerank.Model = true, nil
	_, err := s.Recall(t.Context(), Query{Owner: ada, Text: "bees", Limit: 10})
	if !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("got %v, want an error of kind unavailable", err)
	}
}

// A part that was late in one recall of a request is not waited for again in the next one.
func TestWithin_GivesEachPartItsTimeoutOnce(t *testing.T) {
	t.Parallel()
	s := newStuck(t, time.Minute, nil)
	s.vectors, s.set.Rerank.Model = true, nil
	s.set.VectorTimeout = 3 * time.Second
	ctx, cancel := Within(t.Context(), time.Minute)
	defer cancel()
	start := time.Now()
	for range 3 {
		a, err := s.Recall(ctx, Query{Owner: ada, Text: "bees", Limit: 10})
		if err != nil || !slices.Equal(a.Degraded, []string{partVectors}) {
			t.Errorf("degraded %q, error %v", a.Degraded, err)
		}
	}
	if took := time.Since(start); took > 2*s.set.VectorTimeout {
		t.Errorf("three recalls took %v", took)
	}
}

func TestWithin_EndsWithItsReason(t *testing.T) {
	t.Parallel()
	ctx, cancel := Within(t.Context(), time.Millisecond)
	defer cancel()
	again, cancelAgain := Within(ctx, time.Hour)
	defer cancelAgain()
	<-again.Done()
	if err := context.Cause(again); !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("ended by %v", err)
	}
}
