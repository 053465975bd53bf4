// Package reembed takes the memories from one embedding model to another while
// the server serves:
//
//	configured space -> target (db.Serving)
//	memories without an embedding of it -> embedder -> stored beside those in use
//	all there -> a fresh collection -> change over -> stragglers -> the former collection dropped
//
// Every replica looks at intervals which space serves, and changes its pair of
// embedder and vectors in one step (Switch). One replica at a time does the
// work, under a lease, as a job; whoever comes next goes on where it ended.
package reembed

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore/projection"
)

// Records is what re-embedding needs of the database.
type Records interface {
	db.Serving
	projection.Records
}

// Settings of the work.
type Settings struct {
	Look         time.Duration // between looks at which space serves
	Lease        time.Duration // for which one replica does the work, unless it renews
	Slice        time.Duration // after which a job ends and leaves the rest to another
	Page         int           // memories embedded at a time
	Rest         int           // memories without a new embedding, at most, when the copy begins
	Keep         time.Duration // the former collection, after the change-over
	Backoff      time.Duration // after the embedder was found away; doubles
	BackoffLimit time.Duration
	Grace        time.Duration // by which clocks of replicas may differ
}

// Parts are what a Service works with.
type Parts struct {
	Records Records
	Switch  *Switch
	Keep    *projection.Maintenance // of the Switch's vectors
	Lacking func() bool             // whether a push met a memory without an embedding of what serves
	// Open opens the pair of a space. KindConflict: this process has no embedder
	// for it, and Pair's says so when it is asked.
	Open func(ctx context.Context, space memory.Space) (Pair, error)
	Able func(space memory.Space) bool   // whether this process is configured to embed for a space
	Ask  func(ctx context.Context) error // has the work done, here or elsewhere
	Now  func() time.Time
	Log  *zap.Logger
}

// Service follows what serves, and does the work.
type Service struct {
	Parts
	set    Settings
	holder string

	opening  chan struct{} // holds a token while a pair is opened
	requeued time.Time     // the change-over after which rows were requeued

	mu       sync.Mutex
	progress Progress
	counted  time.Time
}

// New makes a service; Run follows.
func New(parts Parts, set Settings) *Service {
	return &Service{Parts: parts, set: set, holder: memory.NewID(), opening: make(chan struct{}, 1)}
}

// Progress is how far the memories are.
type Progress struct {
	Serving   memory.Space
	Target    memory.Space
	Remaining int // active memories without an embedding of Target
}

// Progress is what the latest look found.
func (s *Service) Progress() Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.progress
}

// Begin makes the configured space the target, and has the Switch serve what
// the database says. The Switch begins with any pair.
func (s *Service) Begin(ctx context.Context, configured memory.Space) (Progress, error) {
	if _, err := s.Records.SetTarget(ctx, configured, memory.Instant(s.Now())); err != nil {
		return Progress{}, err
	}
	if _, err := s.follow(ctx); err != nil {
		return Progress{}, err
	}
	return s.Progress(), nil
}

// Run follows what serves until the context ends.
func (s *Service) Run(ctx context.Context) {
	ticker := time.NewTicker(s.set.Look)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.look(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// countEvery is how long a count of what remains is good for: it reads every
// active row.
const countEvery = 10 * time.Second

// lookTimeout bounds one look; opening the vectors of another space takes seconds.
const lookTimeout = time.Minute

// look follows what serves, and asks for the work where there is some and
// nobody does it.
func (s *Service) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	state, err := s.follow(ctx)
	if err == nil && !state.HeldUntil.After(s.Now()) && (!state.Settled() || s.Lacking()) {
		err = s.Ask(ctx)
	}
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("which embedding model serves could not be followed; it is tried again", zap.Error(err))
	}
}

// follow has the Switch serve what the database says, and counts what remains.
func (s *Service) follow(ctx context.Context) (db.ServingState, error) {
	state, err := s.Records.ServingState(ctx)
	if err != nil {
		return state, err
	}
	if former := s.Switch.Space(); former != state.Serving {
		pair, err := s.pair(ctx, state.Serving)
		if err != nil {
			return state, err
		}
		s.Switch.change(pair)
		s.Log.Info("another embedding model serves", zap.String("from", former.Model), zap.String("to", state.Serving.Model))
	}
	s.Switch.settle(state.Settled())
	for _, space := range s.Switch.beside() {
		if space == state.Target || space == state.Previous {
			continue
		}
		if p, ok := s.Switch.take(space); ok {
			_ = p.Vectors.Close() // nothing is left in it that counts
		}
	}
	progress := Progress{Serving: state.Serving, Target: state.Target}
	s.mu.Lock()
	known := s.progress
	due := known.Target != state.Target || known.Serving != state.Serving || s.Now().Sub(s.counted) >= countEvery
	s.mu.Unlock()
	switch {
	case state.Settled():
	case !due:
		progress.Remaining = known.Remaining
	default:
		if progress.Remaining, err = s.Records.CountUnembedded(ctx, state.Target); err != nil {
			return state, err
		}
	}
	s.mu.Lock()
	if s.progress = progress; due {
		s.counted = s.Now()
	}
	s.mu.Unlock()
	return state, nil
}

// pair is the open pair of a space, which it opens where it is not.
func (s *Service) pair(ctx context.Context, space memory.Space) (*Pair, error) {
	select {
	case s.opening <- struct{}{}:
		defer func() { <-s.opening }()
	case <-ctx.Done():
		return nil, memory.Errorf(memory.KindUnavailable, "waiting for the vectors of %s to be opened: %w", space.Model, context.Cause(ctx))
	}
	if p, ok := s.Switch.find(space); ok {
		return p, nil
	}
	opened, err := s.Open(ctx, space)
	if err != nil {
		return nil, err
	}
	return s.Switch.add(opened), nil
}
