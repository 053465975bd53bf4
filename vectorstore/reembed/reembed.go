// Package reembed changes the embedding model of all memories while the server
// serves:
//
//	configured space -> target (db.Serving)
//	memories without an embedding of the target -> embedder -> stored as second embeddings
//	all embedded -> new collection -> change over -> embed late writes -> drop the previous collection
//
// Every replica checks at intervals which space serves, and changes its pair of
// embedder and vectors in one step (Switch). One replica at a time does the work,
// as a job with a lease; the next job continues where the last one ended.
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
	Interval     time.Duration // between checks which space serves
	RetryWords   time.Duration // between attempts to embed the memories that have no embedding
	Lease        time.Duration // how long one replica owns the work without renewal
	Slice        time.Duration // how long a job runs before it leaves the rest to the next one
	Page         int           // memories embedded at a time
	MaxRemaining int           // memories that may lack a new embedding when the copy begins
	KeepPrevious time.Duration // how long the previous collection is kept after the change-over
	Backoff      time.Duration // after the embedder was unavailable; doubles
	BackoffLimit time.Duration
	Grace        time.Duration // by which clocks of replicas may differ
}

// Parts are the dependencies of a Service.
type Parts struct {
	Records     Records
	Switch      *Switch
	Maintenance *projection.Maintenance // of the Switch's vectors
	// SawUnembedded reports whether a push met a memory without an embedding of
	// the serving space.
	SawUnembedded func() bool
	// Open opens the pair of a space. If this process has no embedder for the
	// space, the pair's embedder returns errors.
	Open     func(ctx context.Context, space memory.Space) (Pair, error)
	CanEmbed func(space memory.Space) bool // whether this process is configured to embed for a space
	// RequestWork enqueues a job that calls Work, on any replica. fresh: there was none for this time, which may be done.
	RequestWork func(ctx context.Context) (fresh bool, err error)
	Now         func() time.Time
	Log         *zap.Logger
}

// Service keeps the Switch up to date and does the work.
type Service struct {
	Parts
	set    Settings
	holder string // of the lease

	working sync.Mutex // held by the job that has the lease

	opening  chan struct{} // holds a token while a pair is opened
	requeued time.Time     // the change-over after which rows were requeued
	retryAt  time.Time     // when memories without an embedding are to be embedded; zero: at the next check

	mu       sync.Mutex
	progress Progress
	counted  time.Time // when progress.Remaining was counted
}

// New makes a service. Call Begin and Run next.
func New(parts Parts, set Settings) *Service {
	return &Service{Parts: parts, set: set, holder: memory.NewID(), opening: make(chan struct{}, 1)}
}

// Progress of a change of the embedding model.
type Progress struct {
	Serving   memory.Space
	Target    memory.Space
	Remaining int // active memories without an embedding of Target
}

// Progress is the result of the latest check.
func (s *Service) Progress() Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.progress
}

// Begin makes the configured space the target, and makes the Switch serve the
// space that serves according to the database.
func (s *Service) Begin(ctx context.Context, configured memory.Space) (Progress, error) {
	if _, err := s.Records.SetTarget(ctx, configured, memory.Instant(s.Now())); err != nil {
		return Progress{}, err
	}
	if _, err := s.follow(ctx); err != nil {
		return Progress{}, err
	}
	return s.Progress(), nil
}

// Run checks at intervals which space serves, until the context ends.
func (s *Service) Run(ctx context.Context) {
	ticker := time.NewTicker(s.set.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.check(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// countInterval is the least time between counts of the remaining memories, since
// a count reads every active row.
const countInterval = 10 * time.Second

// checkTimeout bounds one check; opening the vectors of another space takes seconds.
const checkTimeout = time.Minute

// check follows the serving space, and requests the work if there is some and no
// replica does it.
func (s *Service) check(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	state, err := s.follow(ctx)
	due := false
	if err == nil && !state.HeldUntil.After(s.Now()) {
		if due = !state.Settled() || s.SawUnembedded(); !due {
			due, err = s.retriesWords(ctx)
		}
	}
	if due && err == nil {
		var fresh bool
		if fresh, err = s.RequestWork(ctx); !fresh {
			s.retryAt = time.Time{} // the job may have ended before there was something to do
		}
	}
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("the serving embedding model could not be checked; it is tried again", zap.Error(err))
	}
}

// retriesWords reports whether memories without an embedding are to be embedded now: the embedder, or its limit, may
// have changed since it refused them.
func (s *Service) retriesWords(ctx context.Context) (bool, error) {
	if s.Now().Before(s.retryAt) {
		return false, nil
	}
	due, err := s.Records.HasWordsOnly(ctx)
	if err == nil {
		s.retryAt = s.Now().Add(s.set.RetryWords)
	}
	return due, err
}

// follow makes the Switch serve the space that serves according to the database,
// and counts the memories that remain to be embedded.
func (s *Service) follow(ctx context.Context) (db.ServingState, error) {
	state, err := s.Records.ServingState(ctx)
	if err != nil {
		return state, err
	}
	if previous := s.Switch.Space(); previous != state.Serving {
		pair, err := s.pair(ctx, state.Serving)
		if err != nil {
			return state, err
		}
		s.Switch.serve(pair)
		s.Log.Info("another embedding model serves",
			zap.String("from", previous.Model), zap.String("to", state.Serving.Model))
	}
	s.Switch.setSettled(state.Settled())
	for _, p := range s.Switch.others() {
		if p.Space != state.Target && p.Space != state.Previous && s.Switch.remove(p.Space) {
			_ = p.Vectors.Close() // no longer needed
		}
	}
	progress := Progress{Serving: state.Serving, Target: state.Target}
	s.mu.Lock()
	last := s.progress
	due := last.Target != state.Target || last.Serving != state.Serving || s.Now().Sub(s.counted) >= countInterval
	s.mu.Unlock()
	switch {
	case state.Settled():
	case !due:
		progress.Remaining = last.Remaining
	default:
		if progress.Remaining, err = s.Records.CountUnembedded(ctx, state.Target); err != nil {
			return state, err
		}
	}
	s.mu.Lock()
	s.progress = progress
	if due {
		s.counted = s.Now()
	}
	s.mu.Unlock()
	return state, nil
}

// pair returns the pair of a space, and opens it if it is not open.
func (s *Service) pair(ctx context.Context, space memory.Space) (*Pair, error) {
	select {
	case s.opening <- struct{}{}:
		defer func() { <-s.opening }()
	case <-ctx.Done():
		return nil, memory.Errorf(memory.KindUnavailable, "waiting for the vectors of %s to be opened: %w",
			space.Model, context.Cause(ctx))
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
