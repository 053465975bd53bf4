package api

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// StateParts are the parts behind the route of the server's state.
type StateParts struct {
	// Backlog counts what waits for the vector store. After an error the answer omits it.
	Backlog func(ctx context.Context) (db.Backlog, error)
	// Drift is the latest verification by this process; ok is false before the first one.
	Drift func() (d Drift, ok bool)
	// Lag is how long the turn that has waited longest for a worker has been due.
	Lag func() time.Duration
	// Schedule is when each scheduled kind of job runs next.
	Schedule func() map[string]time.Time
}

// Drift counts the memories that the stores disagreed about at a verification.
type Drift struct {
	At        time.Time `json:"at"`
	Missing   int       `json:"missing"`
	Orphaned  int       `json:"orphaned"`
	Different int       `json:"different"`
}

type stateHandlers struct {
	StateParts
	readiness *readiness
	embedding func() Embedding // nil: the answer omits it
	now       func() time.Time
}

func (h stateHandlers) register(r *frame.Routes) {
	r.AddServerWide("GET /v1/admin/state", memory.RoleAdmin, h.state)
}

type stateBody struct {
	Readiness  map[string]any `json:"readiness"`
	Projection *backlogBody   `json:"projection,omitempty"`
	Drift      *Drift         `json:"drift,omitempty"`
	TurnsLagMS int64          `json:"turns_lag_ms"`
	Embedding  *Embedding     `json:"embedding,omitempty"`
	Schedule   []upcomingBody `json:"schedule"`
}

type backlogBody struct {
	Pending  int   `json:"pending"`
	Removing int   `json:"removing"`
	LagMS    int64 `json:"lag_ms"`
}

type upcomingBody struct {
	Kind   string    `json:"kind"`
	NextAt time.Time `json:"next_at"`
}

func (h stateHandlers) state(ctx context.Context, _ *frame.Request) (any, error) {
	_, ready := readinessOf(h.readiness.observe(ctx))
	body := stateBody{Readiness: ready, TurnsLagMS: h.Lag().Milliseconds(), Schedule: []upcomingBody{}}
	if waiting, err := h.Backlog(ctx); err == nil {
		body.Projection = &backlogBody{Pending: waiting.Pending, Removing: waiting.Removing}
		if !waiting.Oldest.IsZero() {
			body.Projection.LagMS = max(0, h.now().Sub(waiting.Oldest).Milliseconds())
		}
	}
	if drift, ok := h.Drift(); ok {
		body.Drift = &drift
	}
	if h.embedding != nil {
		embedding := h.embedding()
		body.Embedding = &embedding
	}
	for kind, at := range h.Schedule() {
		body.Schedule = append(body.Schedule, upcomingBody{kind, at})
	}
	slices.SortFunc(body.Schedule, func(a, b upcomingBody) int {
		return cmp.Or(a.NextAt.Compare(b.NextAt), cmp.Compare(a.Kind, b.Kind))
	})
	return body, nil
}
