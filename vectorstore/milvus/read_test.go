package milvus

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// The texts of the refusals are answers of Milvus 2.3.5 to searches on a busy machine.
func TestRead_RepeatsWhatPasses(t *testing.T) {
	t.Parallel()
	unexpected := func(reason string) *refusal { return &refusal{code: codeUnexpected, reason: reason} }
	partition := unexpected("fail to Search, QueryNode ID=1, reason=partition not loaded[partition=[470622057411000113]]")
	node := unexpected("failed to get delegator -1: can not find client of node -1")
	alias := unexpected("can't find collection name default:test_in_use")
	dropped := &refusal{code: codeCollectionNotFound}
	other := unexpected("fail to search on all shard leaders")
	for name, c := range map[string]struct {
		answers  []error // the last one is repeated
		calls    int
		atMost   time.Duration
		succeeds bool
	}{
		"partition is being loaded": {[]error{partition, partition, partition, nil}, 4, 70 * time.Millisecond, true},
		"node is being chosen":      {[]error{node, partition, nil}, 3, 30 * time.Millisecond, true},
		"alias is being moved":      {[]error{alias, nil}, 2, 10 * time.Millisecond, true},
		"node stays away":           {[]error{node}, 8, 1270 * time.Millisecond, false},
		"alias was moved":           {[]error{dropped, nil}, 2, 0, true},
		"collection was dropped":    {[]error{dropped}, 2, 0, false},
		"moved during a search":     {[]error{partition, dropped, nil}, 3, 10 * time.Millisecond, true},
		"another refusal":           {[]error{other}, 1, 0, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &Store{options: Options{Timeout: time.Minute}}
			calls, began := 0, time.Now()
			err := s.read(t.Context(), name, func(context.Context) error {
				calls++
				return c.answers[min(calls, len(c.answers))-1]
			})
			if took := time.Since(began); (err == nil) != c.succeeds || calls != c.calls || took > c.atMost {
				t.Errorf("%s: %v after %d calls and %v, want %d calls and %v", name, err, calls, took, c.calls, c.atMost)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		s := &Store{options: Options{Timeout: time.Minute}}
		if err := s.read(ctx, "searching", func(context.Context) error { return node }); !errors.Is(err, node) {
			t.Errorf("a read whose caller gave up: %v, want the last refusal", err)
		}
	})
}
