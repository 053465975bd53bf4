package api

import (
	"context"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/reflection"
)

// Reflector condenses the facts of a user; package reflection implements it.
type Reflector interface {
	Reflect(ctx context.Context, owner memory.Owner, force bool) (reflection.Result, error)
}

type reflectHandlers struct{ reflector Reflector }

func (h reflectHandlers) register(r *routes) {
	r.add("POST /v1/reflect", memory.RoleWrite, withBody(h.reflect))
}

type reflectRequest struct {
	UserID string `json:"user_id"`
	Force  bool   `json:"force"`
}

type reflectBody struct {
	At       time.Time     `json:"at"`
	Facts    int           `json:"facts"`
	Skipped  string        `json:"skipped,omitempty"`
	Insights []wire.Memory `json:"insights"`
	Retired  []string      `json:"retired"`
}

func (h reflectHandlers) reflect(ctx context.Context, r *request, body reflectRequest) (any, error) {
	owner := r.bodyOwner(body.UserID)
	if err := r.err(); err != nil {
		return nil, err
	}
	result, err := h.reflector.Reflect(ctx, owner, body.Force)
	return reflectBody{
		At: result.At, Facts: result.Facts, Skipped: result.Skipped,
		Insights: bodiesOf(result.Insights, wire.MemoryOf), Retired: notNil(result.Retired),
	}, err
}
