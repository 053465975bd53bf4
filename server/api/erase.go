package api

import (
	"context"
	"net/http"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Eraser removes users for good; package erasure implements it.
type Eraser interface {
	Erase(ctx context.Context, owner memory.Owner) (db.Erasure, error)
}

type erasedBody struct {
	UserID      string    `json:"user_id"`
	RequestedAt time.Time `json:"requested_at"`
	FinishedAt  time.Time `json:"finished_at"`
	Deleted     db.Erased `json:"deleted"`
	Verified    bool      `json:"verified"` // an erasure ends only when every store has been asked
}

func (s *Server) eraseUser(ctx context.Context, r *request) error {
	var c checks
	owner := c.owner("path.user_id", r.key, r.param("user_id"))
	if err := c.err(); err != nil {
		return err
	}
	done, err := s.Eraser.Erase(ctx, owner)
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, erasedBody{owner.UserID, done.RequestedAt, done.DoneAt, done.Deleted, true})
}
