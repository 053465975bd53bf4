// Package guard keeps callers from waiting for a vector store that is away:
//
//	call -> circuit breaker -> store
//
// After a few calls in a row that found the store unavailable, further calls
// fail at once, but for one trial call at a time, a second after the last
// failed; the first that succeeds lets all through.
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
	delay    = time.Second // before each trial call
)

// Store guards another store.
type Store struct {
	vectorstore.Store
	breaker circuitbreaker.CircuitBreaker[any]
}

// New guards a store; closing it closes that store.
func New(store vectorstore.Store) *Store {
	return &Store{store, circuitbreaker.NewBuilder[any]().
		WithFailureThreshold(failures).WithSuccessThreshold(1).WithDelay(delay).Build()}
}

// call runs f unless the breaker is open.
func (s *Store) call(ctx context.Context, f func() error) error {
	if ctx.Err() != nil {
		return f() // too late to ask: it says so, and the store is not to blame
	}
	if !s.breaker.TryAcquirePermit() {
		return &memory.Error{
			Kind: memory.KindUnavailable, RetryAfter: delay,
			Err: errors.New("the vector store is away: it is tried again in a moment"),
		}
	}
	err := errPanicked
	defer func() { s.record(ctx, err) }() // also in a panic: a trial's permit must come back
	err = f()
	return err
}

var errPanicked = memory.Errorf(memory.KindInternal, "the vector store panicked")

// record tells the breaker how the store did. Only what it did counts as a
// success, and only its being away, which a deadline that has passed shows
// too, as a failure. A caller that left, and a refusal, which may come from our
// own checks, say neither; a trial that ends so has failed, and another follows.
func (s *Store) record(ctx context.Context, err error) {
	left := errors.Is(ctx.Err(), context.Canceled)
	switch {
	case err == nil:
		s.breaker.RecordSuccess()
	case memory.IsKind(err, memory.KindUnavailable) && !left, s.breaker.IsHalfOpen():
		s.breaker.RecordFailure()
	}
}

// Healthy reports, without asking, whether the store is a vectorstore.Remote that
// can be expected to answer: it says so, and its last calls did not fail.
func (s *Store) Healthy() bool {
	remote, ok := s.Store.(vectorstore.Remote)
	return ok && s.breaker.IsClosed() && remote.Healthy()
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
