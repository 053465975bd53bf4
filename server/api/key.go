package api

import (
	"context"

	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// keyHandlers show the key of a request.
type keyHandlers struct{}

type callerKeyBody struct {
	Role   memory.Role `json:"role"`
	AppID  string      `json:"app_id,omitempty"`
	UserID string      `json:"user_id,omitempty"`
	Memory string      `json:"memory"`

	Pool memory.PoolAccess `json:"pool"`
}

func (keyHandlers) register(r *frame.Routes) {
	r.AddServerWide("GET /v1/key", memory.RoleRead, func(_ context.Context, r *frame.Request) (any, error) {
		k := r.Key
		return callerKeyBody{
			Role: k.Role, AppID: k.AppID, UserID: k.UserID, Memory: k.Memory.String(), Pool: k.PoolAccess(),
		}, nil
	})
}
