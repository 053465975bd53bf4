package vectortest

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

func testPing(t *testing.T, s vectorstore.Store) { must(t, s.Ping(t.Context())) }

// testRefusals checks that records and queries which no store can handle are
// refused with KindInvalid, and that nothing of them is stored.
func testRefusals(t *testing.T, s vectorstore.Store) {
	o := owner()
	good := record(o, axis(0, 1))
	for name, change := range map[string]func(*vectorstore.Record){
		"no id":             func(r *vectorstore.Record) { r.ID = "" },
		"long id":           func(r *vectorstore.Record) { r.ID = strings.Repeat("x", 37) },
		"no app":            func(r *vectorstore.Record) { r.AppID = "" },
		"no user":           func(r *vectorstore.Record) { r.UserID = "" },
		"newline in user":   func(r *vectorstore.Record) { r.UserID = "a\nb" },
		"NUL in user":       func(r *vectorstore.Record) { r.UserID = "a\x00b" },
		"bad UTF-8 in user": func(r *vectorstore.Record) { r.UserID = "\xff" },
		"long user":         func(r *vectorstore.Record) { r.UserID = strings.Repeat("x", 257) },
		"long agent":        func(r *vectorstore.Record) { r.AgentID = strings.Repeat("x", 257) },
		"long domain":       func(r *vectorstore.Record) { r.Domain = memory.Domain(strings.Repeat("x", 65)) },
		"no content":        func(r *vectorstore.Record) { r.Content = "" },
		"long content":      func(r *vectorstore.Record) { r.Content = strings.Repeat("x", memory.MaxContentRunes+1) },
		"short embedding":   func(r *vectorstore.Record) { r.Embedding = r.Embedding[1:] },
		"no embedding":      func(r *vectorstore.Record) { r.Embedding = nil },
		"zero embedding":    func(r *vectorstore.Record) { r.Embedding = make([]float32, Dim) },
		"NaN embedding":     func(r *vectorstore.Record) { r.Embedding = axis(0, float32(math.NaN())) },
		"infinite":          func(r *vectorstore.Record) { r.Embedding = axis(0, float32(math.Inf(1))) },
		"repeated id":       func(r *vectorstore.Record) { r.ID = good.ID },
	} {
		bad := record(o, axis(0, 1))
		change(&bad)
		for _, write := range []func(context.Context, []vectorstore.Record) error{s.Insert, s.Replace} {
			if err := write(t.Context(), []vectorstore.Record{good, bad}); !memory.IsKind(err, memory.KindInvalid) {
				t.Errorf("%s: got %v, want an error of kind invalid", name, err)
			}
		}
	}
	for name, change := range map[string]func(*vectorstore.Query){
		"no owner":        func(q *vectorstore.Query) { q.Owner = memory.Owner{} },
		"no limit":        func(q *vectorstore.Query) { q.Limit = 0 },
		"large limit":     func(q *vectorstore.Query) { q.Limit = vectorstore.MaxLimit + 1 },
		"short embedding": func(q *vectorstore.Query) { q.Embedding = q.Embedding[1:] },
		"zero embedding":  func(q *vectorstore.Query) { q.Embedding = make([]float32, Dim) },
	} {
		q := around(o, axis(0, 1))
		change(&q)
		if _, err := s.Search(t.Context(), q); !memory.IsKind(err, memory.KindInvalid) {
			t.Errorf("query with %s: got %v, want an error of kind invalid", name, err)
		}
	}
	never := func(vectorstore.Record) error { return errStop }
	if err := s.Scan(t.Context(), "", 0, never); !memory.IsKind(err, memory.KindInvalid) {
		t.Errorf("scan without limit: got %v, want an error of kind invalid", err)
	}
	if hits := search(t, s, around(o, axis(0, 1))); len(hits) != 0 {
		t.Errorf("refused writes left %v", hits)
	}
}

// operations are all operations that need the store.
func operations(s vectorstore.Store) map[string]func(context.Context) error {
	o := owner()
	return map[string]func(context.Context) error{
		"Insert":  func(ctx context.Context) error { return s.Insert(ctx, []vectorstore.Record{record(o, axis(0, 1))}) },
		"Replace": func(ctx context.Context) error { return s.Replace(ctx, []vectorstore.Record{record(o, axis(0, 1))}) },
		"Delete":  func(ctx context.Context) error { return s.Delete(ctx, []string{memory.NewID()}) },
		"Search": func(ctx context.Context) error {
			_, err := s.Search(ctx, around(o, axis(0, 1)))
			return err
		},
		"Scan": func(ctx context.Context) error {
			return s.Scan(ctx, "", 1, func(vectorstore.Record) error { return nil })
		},
		"DeleteOwner": func(ctx context.Context) error { _, err := s.DeleteOwner(ctx, o); return err },
		"CountOwner":  func(ctx context.Context) error { _, err := s.CountOwner(ctx, o); return err },
		"Ping":        s.Ping,
	}
}

// testClosed checks that a closed store is unavailable and can be closed again.
func testClosed(t *testing.T, s vectorstore.Store) {
	must(t, s.Close())
	must(t, s.Close())
	for name, run := range operations(s) {
		if err := run(t.Context()); !memory.IsKind(err, memory.KindUnavailable) {
			t.Errorf("%s on a closed store: got %v, want an error of kind unavailable", name, err)
		}
	}
}

// testEndedContext checks that no operation runs with a canceled context.
func testEndedContext(t *testing.T, s vectorstore.Store) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, run := range operations(s) {
		if err := run(ended); !memory.IsKind(err, memory.KindUnavailable) || !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a canceled context: got %v, want unavailable because canceled", name, err)
		}
	}
}

// testConcurrency checks that concurrent writes of different ids and searches succeed.
func testConcurrency(t *testing.T, s vectorstore.Store) {
	const workers, rounds = 8, 10
	o := owner()
	written := make([][]vectorstore.Record, workers)
	var group errgroup.Group
	for w := range workers {
		group.Go(func() error {
			for range rounds {
				kept, gone := record(o, axis(w, 1)), record(o, axis(w, 1))
				if err := s.Insert(t.Context(), []vectorstore.Record{kept, gone}); err != nil {
					return err
				}
				if _, err := s.Search(t.Context(), around(o, axis(w, 1))); err != nil {
					return err
				}
				if err := s.Replace(t.Context(), []vectorstore.Record{kept}); err != nil {
					return err
				}
				if err := s.Delete(t.Context(), []string{gone.ID}); err != nil {
					return err
				}
				written[w] = append(written[w], kept)
			}
			return nil
		})
	}
	must(t, group.Wait())
	var want []string
	for _, records := range written {
		want = append(want, idsOf(records)...)
	}
	awaitIDs(t, s, around(o, axis(0, 1)), want...)
}
