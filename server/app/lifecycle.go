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
	ctx   context.Context // the background work gets its values; nil: no values
	stops []stop
}

type stop struct {
	name string
	f    func(context.Context) error
}

// stopTimeout bounds the whole shutdown.
const stopTimeout = time.Minute

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

// stop stops everything, the latest first.
func (l *lifecycle) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	var errs []error
	for _, s := range slices.Backward(l.stops) {
		if err := s.f(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", s.name, err))
		}
		l.log.Debug("stopped", zap.String("part", s.name))
	}
	l.stops = nil
	return errors.Join(errs...)
}
