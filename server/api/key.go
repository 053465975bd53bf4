package api

import (
	"context"

	"hippocampus/internal/memory"
)

// keyHandlers show the key of a request.
type keyHandlers struct{}

type callerKeyBody struct {
	Role   memory.Role `json:"role"`
	AppID  string      `json:"app_id,omitempty"`
	UserID string      `json:"user_id,omitempty"`
}

func (keyHandlers) register(r *routes) {
	r.addServerWide("GET /v1/key", memory.RoleRead, func(_ context.Context, r *request) (any, error) {
		return callerKeyBody{Role: r.key.Role, AppID: r.key.AppID, UserID: r.key.UserID}, nil
	})
}
