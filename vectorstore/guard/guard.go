// Package guard fails calls to an unavailable vector store fast:
//
//	call -> circuit breaker -> store
//
// After a few calls in a row that found the store unavailable, the breaker opens
// and further calls fail at once. One second after the last failure it lets one
// trial call through. The breaker closes after the first trial that succeeds.
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

// New guards a store. Closing the returned store closes the guarded one.
func New(store vectorstore.Store) *Store {
	return &Store{store, circuitbreaker.NewBuilder[any]().
		WithFailureThreshold(failures).WithSuccessThreshold(1).WithDelay(delay).Build()}
}

// call runs f unless the breaker is open.
func (s *Store) call(ctx context.Context, f func() error) error {
	if ctx.Err() != nil {
		return f() // f returns the context's error, which does not concern the breaker
	}
	if !s.breaker.TryAcquirePermit() {
		return &memory.Error{
			Kind: memory.KindUnavailable, RetryAfter: delay,
			Err: errors.New("the vector store is unavailable: it is tried again in a moment"),
		}
	}
	err := errPanicked
	defer func() { s.record(ctx, err) }() // even if f panics: the permit must be returned
	err = f()
	return err
}

// query is call for an f with a result.
func query[T any](ctx context.Context, s *Store, f func() (T, error)) (result T, err error) {
	err = s.call(ctx, func() error {
		result, err = f()
		return err
	})
	return result, err
}

var errPanicked = memory.Errorf(memory.KindInternal, "the vector store panicked")

// record reports the outcome of a call to the breaker. A call that found the
// store unavailable, or that exceeded its deadline, is a failure. A call that its
// caller canceled, or that was refused, counts neither as a success nor as a failure. If it is a trial, it counts as a
// failure, so that another trial follows.
func (s *Store) record(ctx context.Context, err error) {
	canceled := errors.Is(ctx.Err(), context.Canceled)
	switch {
	case err == nil:
		s.breaker.RecordSuccess()
	case memory.IsKind(err, memory.KindUnavailable) && !canceled, s.breaker.IsHalfOpen():
		s.breaker.RecordFailure()
	}
}

// Healthy reports, without asking the store, whether it is a vectorstore.Remote
// that is healthy itself and whose last calls did not fail.
func (s *Store) Healthy() bool {
	remote, ok := s.Store.(vectorstore.Remote)
	return ok && s.breaker.IsClosed() && remote.Healthy()
}

func (s *Store) Insert(ctx context.Context, records []vectorstore.Record) error {
	return s.call(ctx, func() error { return s.Store.Insert(ctx, records) })
}

func (s *Store) Replace(ctx context.Context, records []vectorstore.Record) error {
	return s.call(ctx, func() error { return s.Store.Replace(ctx, records) })
}

func (s *Store) Delete(ctx context.Context, ids []string) error {
	return s.call(ctx, func() error { return s.Store.Delete(ctx, ids) })
}

func (s *Store) Search(ctx context.Context, q vectorstore.Query) ([]vectorstore.Hit, error) {
	return query(ctx, s, func() ([]vectorstore.Hit, error) { return s.Store.Search(ctx, q) })
}

func (s *Store) DeleteOwner(ctx context.Context, owner memory.Owner) (int, error) {
	return query(ctx, s, func() (int, error) { return s.Store.DeleteOwner(ctx, owner) })
}

func (s *Store) CountOwner(ctx context.Context, owner memory.Owner) (int, error) {
	return query(ctx, s, func() (int, error) { return s.Store.CountOwner(ctx, owner) })
}
