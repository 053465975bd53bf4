package api

import (
	"context"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/reflection/compression"
)

// Compressor condenses old memories; package compression implements it.
type Compressor interface {
	Compress(ctx context.Context, owner memory.Owner, dryRun bool) (compression.Result, error)
}

type compressHandlers struct{ compressor Compressor }

func (h compressHandlers) register(r *routes) {
	r.add("POST /v1/compress", memory.RoleWrite, withBody(h.compress))
}

type compressRequest struct {
	UserID string `json:"user_id"`
	DryRun bool   `json:"dry_run"`
}

type compressBody struct {
	DryRun     bool        `json:"dry_run"`
	At         time.Time   `json:"at"`
	Considered int         `json:"considered"`
	Groups     []groupBody `json:"groups"`
	Stopped    string      `json:"stopped,omitempty"`
}

type groupBody struct {
	Memories  []string      `json:"memories"`
	Summaries []wire.Memory `json:"summaries"`
	Refused   string        `json:"refused,omitempty"`
}

func (h compressHandlers) compress(ctx context.Context, r *request, body compressRequest) (any, error) {
	owner := r.bodyOwner(body.UserID)
	if err := r.err(); err != nil {
		return nil, err
	}
	result, err := h.compressor.Compress(ctx, owner, body.DryRun)
	groups := make([]groupBody, len(result.Groups))
	for i, g := range result.Groups {
		groups[i] = groupBody{g.Memories, bodiesOf(g.Summaries, wire.MemoryOf), g.Refused}
	}
	return compressBody{
		DryRun: body.DryRun, At: result.At, Considered: result.Considered, Groups: groups, Stopped: result.Stopped,
	}, err
}
