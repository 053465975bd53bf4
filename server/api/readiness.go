package api

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"hippocampus/internal/memory"
)

const checkTimeout = 2 * time.Second

// Check reports whether a part of the server works.
type Check struct {
	Name     string // as /readyz shows it: "database", "vector_store"
	Required bool   // if it fails, the server is not ready; otherwise it is degraded
	// Check must return when ctx ends, which is after 2 s. An error of
	// KindUnauthorized says that the part refuses the server's key.
	Check func(ctx context.Context) error
}

// Part is the state of a part of the server.
type Part struct {
	Name     string
	Err      error     // nil: the part works
	Since    time.Time // when an observation first found this status and reason
	required bool
}

// Status is the state as /readyz shows it.
func (p Part) Status() string {
	switch {
	case p.Err == nil:
		return "ready"
	case p.Reason() == memory.ReasonCredentials, p.Reason() == memory.ReasonPrivileges:
		return "unauthorized"
	}
	return "unavailable"
}

// Reason is why the part does not work, as far as that is known.
func (p Part) Reason() memory.Reason {
	if memory.IsKind(p.Err, memory.KindUnauthorized) {
		return memory.ReasonCredentials
	}
	return memory.ReasonOf(p.Err)
}

// readiness keeps the state of each part:
//
//	checks, all at once -> states; a change is logged
type readiness struct {
	checks []Check
	now    func() time.Time
	log    *zap.Logger

	mu    sync.Mutex
	parts map[string]Part
}

func newReadiness(checks []Check, now func() time.Time, log *zap.Logger) *readiness {
	return &readiness{checks: checks, now: now, log: log, parts: map[string]Part{}}
}

// observe checks every part.
func (r *readiness) observe(ctx context.Context) []Part {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	errs := make([]error, len(r.checks))
	var running sync.WaitGroup
	for i, check := range r.checks {
		running.Go(func() { errs[i] = check.Check(ctx) })
	}
	running.Wait()
	parts := make([]Part, len(r.checks))
	for i, check := range r.checks {
		parts[i] = r.note(Part{Name: check.Name, Err: errs[i], required: check.Required})
	}
	return parts
}

// note records an observed state and returns it with its beginning.
func (r *readiness) note(part Part) Part {
	part.Since = memory.Instant(r.now())
	r.mu.Lock()
	defer r.mu.Unlock()
	last, known := r.parts[part.Name]
	if known && last.Status() == part.Status() && last.Reason() == part.Reason() {
		part.Since = last.Since
	} else if part.Err != nil {
		r.log.Warn("a part does not work", zap.String("part", part.Name),
			zap.String("status", part.Status()), zap.String("reason", string(part.Reason())), zap.Error(part.Err))
	} else if known {
		r.log.Info("a part works again", zap.String("part", part.Name), zap.Time("failed_since", last.Since))
	}
	r.parts[part.Name] = part
	return part
}

// Observe checks every part of the server. Call it at intervals, so that /readyz
// shows since when a part is in its state.
func (s *Server) Observe(ctx context.Context) []Part { return s.readiness.observe(ctx) }
