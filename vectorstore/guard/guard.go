// Package guard keeps callers from waiting for a vector store that is away:
//
//	call -> circuit breaker -> store
//
// After a few calls in a row that found the store unavailable, further calls
// fail at once, until a trial call succeeds.
package guard

import (
	"context"
	"errors"
	"time"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

const (
	failures = 3           // in a row, that open the breaker
	delay    = time.Second // until a trial call
)

// Store guards another store.
type Store struct {
	vectorstore.Store
	breaker circuitbreaker.CircuitBreaker[any]
}

// New guards a store; closing it closes that store.
func New(store vectorstore.Store) *Store {
	return &Store{store, circuitbreaker.NewBuilder[any]().WithFailureThreshold(failures).WithDelay(delay).Build()}
}

// call runs f unless the breaker is open. Only KindUnavailable counts against
// the store, and a caller that left counts neither way.
func (s *Store) call(ctx context.Context, f func() error) error {
	if !s.breaker.TryAcquirePermit() {
		return &memory.Error{
			Kind: memory.KindUnavailable, RetryAfter: delay,
			Err: errors.New("the vector store is away: it is tried again in a moment"),
		}
	}
	err := f()
	switch {
	case memory.IsKind(err, memory.KindUnavailable) && !errors.Is(ctx.Err(), context.Canceled):
		s.breaker.RecordFailure()
	default:
		s.breaker.RecordSuccess()
	}
	return err
}

// Insert guards vectorstore.Store.Insert.
func (s *Store) Insert(ctx context.Context, records []vectorstore.Record) error {
	return s.call(ctx, func() error { return s.Store.Insert(ctx, records) })
}

// Replace guards vectorstore.Store.Replace.
func (s *Store) Replace(ctx context.Context, records []vectorstore.Record) error {
	return s.call(ctx, func() error { return s.Store.Replace(ctx, records) })
}

// Delete guards vectorstore.Store.Delete.
func (s *Store) Delete(ctx context.Context, ids []string) error {
	return s.call(ctx, func() error { return s.Store.Delete(ctx, ids) })
}

// Search guards vectorstore.Store.Search.
func (s *Store) Search(ctx context.Context, q vectorstore.Query) (hits []vectorstore.Hit, err error) {
	err = s.call(ctx, func() error {
		hits, err = s.Store.Search(ctx, q)
		return err
	})
	return hits, err
}
