package api

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Eraser removes users from every store; package erasure implements it.
type Eraser interface {
	Erase(ctx context.Context, owner memory.Owner) (db.Erasure, error)
}

type eraseHandlers struct{ eraser Eraser }

func (h eraseHandlers) register(r *routes) {
	r.add("DELETE /v1/users/:user_id", memory.RoleAdmin, h.erase)
}

type erasedBody struct {
	UserID      string    `json:"user_id"`
	RequestedAt time.Time `json:"requested_at"`
	FinishedAt  time.Time `json:"finished_at"`
	Deleted     db.Erased `json:"deleted"`
	Verified    bool      `json:"verified"` // always true, since an erasure ends only after checking every store
}

func (h eraseHandlers) erase(ctx context.Context, r *request) (any, error) {
	owner := r.owner("path.user_id", r.key, r.param("user_id"))
	if err := r.err(); err != nil {
		return nil, err
	}
	done, err := h.eraser.Erase(ctx, owner)
	return erasedBody{
		UserID: owner.UserID, RequestedAt: done.RequestedAt, FinishedAt: done.DoneAt, Deleted: done.Deleted, Verified: true,
	}, err
}
