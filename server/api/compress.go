package api

import (
	"context"
	"net/http"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/reflection/compression"
)

// Compressor condenses old memories; package compression implements it.
type Compressor interface {
	Compress(ctx context.Context, owner memory.Owner, dryRun bool) (compression.Result, error)
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
	Memories  []string     `json:"memories"`
	Summaries []memoryBody `json:"summaries"`
	Refused   string       `json:"refused,omitempty"`
}

func (s *Server) compress(ctx context.Context, r *request) error {
	body, err := decode[compressRequest](r)
	if err != nil {
		return err
	}
	var c checks
	owner := c.owner("user_id", r.key, body.UserID)
	if err := c.err(); err != nil {
		return err
	}
	result, err := s.Compressor.Compress(ctx, owner, body.DryRun)
	if err != nil {
		return err
	}
	answer := compressBody{body.DryRun, result.At, result.Considered, make([]groupBody, len(result.Groups)), result.Stopped}
	for i, g := range result.Groups {
		answer.Groups[i] = groupBody{g.Memories, memoriesOf(g.Summaries), g.Refused}
	}
	return r.JSON(http.StatusOK, answer)
}
