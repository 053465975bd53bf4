package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"
)

// lifecycle stops what has been started, in the reverse order.
type lifecycle struct {
	log   *zap.Logger
	limit time.Duration   // of the whole stop
	ctx   context.Context // the background work gets its values; nil: no values
	stops []stop

	// drained is closed when requests, jobs and turns have had their time to finish: the rest is for what ends them.
	drained chan struct{}
}

func newLifecycle(log *zap.Logger, limit time.Duration) *lifecycle {
	return &lifecycle{log: log, limit: limit, drained: make(chan struct{})}
}

type stop struct {
	name string
	f    func(context.Context) error
}

// onStop calls f at shutdown, before everything that was started earlier is stopped.
func (l *lifecycle) onStop(name string, f func(context.Context) error) {
	l.stops = append(l.stops, stop{name, f})
}

func (l *lifecycle) background() context.Context {
	if l.ctx == nil {
		return context.Background()
	}
	return context.WithoutCancel(l.ctx)
}

// run runs f in the background until shutdown, which waits for it to return.
func (l *lifecycle) run(name string, f func(context.Context)) {
	ctx, cancel := context.WithCancel(l.background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(ctx)
	}()
	l.onStop(name, func(limit context.Context) error {
		cancel()
		select {
		case <-done:
			return nil
		case <-limit.Done():
			return limit.Err()
		}
	})
}

// drain returns a context that ends with the time that requests, jobs and turns have to finish, or with ctx.
func (l *lifecycle) drain(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		select {
		case <-l.drained:
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// stop stops everything, the latest first, within the limit: a part that takes longer, such as the connections to a
// database that hangs, ends with the process.
func (l *lifecycle) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), l.limit)
	defer cancel()
	defer time.AfterFunc(l.limit-l.limit/4, func() { close(l.drained) }).Stop()
	var errs []error
	for _, s := range slices.Backward(l.stops) {
		ended := make(chan error, 1)
		go func() { ended <- s.f(ctx) }()
		var err error
		select {
		case err = <-ended:
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", s.name, err))
		}
		l.log.Debug("stopped", zap.String("part", s.name))
	}
	l.stops = nil
	return errors.Join(errs...)
}
