// Package calibration finds out what the similarities of an embedding model mean:
//
//	space -> shipped | database | measured on shipped pairs of texts, and kept in the database
//
// The result is kept with its space, so that every replica uses the same.
package calibration

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// Records is the part of the database that keeps calibrations; see db.Calibrations.
type Records interface {
	Calibration(ctx context.Context, space memory.Space) (memory.Calibration, error)
	KeepCalibration(ctx context.Context, space memory.Space, c memory.Calibration) (memory.Calibration, error)
}

// Service knows the calibration of each space that has served since it was made.
type Service struct {
	records  Records
	embedder llm.Embedder
	log      *zap.Logger

	mu    sync.RWMutex
	known map[memory.Space]memory.Calibration
}

// New makes a service for the spaces of an embedder, which may be an llm.Switching.
func New(records Records, embedder llm.Embedder, log *zap.Logger) *Service {
	return &Service{records: records, embedder: embedder, log: log, known: map[memory.Space]memory.Calibration{}}
}

// Of returns the calibration of a space; zero if it is not known yet.
func (s *Service) Of(space memory.Space) memory.Calibration {
	if c, ok := shipped[space]; ok {
		return c
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.known[space]
}

// The serving space is checked each interval. After a failure the next attempt waits,
// twice as long each time.
const (
	interval   = time.Second
	maxBackoff = time.Minute
)

// Run calibrates each space that serves, until ctx is done.
func (s *Service) Run(ctx context.Context) {
	wait := interval
	for {
		switch err := s.Calibrate(ctx); {
		case err == nil:
			wait = interval
		case ctx.Err() == nil:
			wait = min(2*wait, maxBackoff)
			s.log.Warn("the embedding model is not calibrated: confidence does without similarity until it is",
				zap.Duration("next_attempt", wait), zap.Error(err))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// Calibrate makes the calibration of the serving space known: it reads the calibration,
// or measures it and keeps it.
func (s *Service) Calibrate(ctx context.Context) error {
	embedder := llm.Serving(s.embedder)
	space := llm.SpaceOf(embedder)
	if s.Of(space) != (memory.Calibration{}) {
		return nil
	}
	c, err := s.records.Calibration(ctx, space)
	if err != nil {
		return err
	}
	if c == (memory.Calibration{}) {
		if c, err = Measure(ctx, embedder); err != nil {
			return err
		}
		if c, err = s.records.KeepCalibration(ctx, space, c); err != nil {
			return err
		}
		s.log.Info("calibrated the embedding model", zap.String("model", space.Model), zap.Int("dim", space.Dim),
			zap.Any("calibration", c))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[space] = c
	return nil
}
