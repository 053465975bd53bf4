package api

import (
	"context"
	"net/http"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/reflection"
)

// Reflector condenses what a user has said; package reflection implements it.
type Reflector interface {
	Reflect(ctx context.Context, owner memory.Owner, force bool) (reflection.Result, error)
}

// Undoer takes reflections and summaries back; reflection/derivation implements it.
type Undoer interface {
	Undo(ctx context.Context, appID, id string) (derived memory.Memory, restored []memory.Memory, err error)
}

// SourceReader finds what memories were derived from; db.Maintenance has it.
type SourceReader interface {
	Sources(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Memory, error)
}

type reflectRequest struct {
	UserID string `json:"user_id"`
	Force  bool   `json:"force"`
}

type reflectBody struct {
	At       time.Time    `json:"at"`
	Facts    int          `json:"facts"`
	Skipped  string       `json:"skipped,omitempty"`
	Insights []memoryBody `json:"insights"`
	Retired  []string     `json:"retired"`
}

func (s *Server) reflect(ctx context.Context, r *request) error {
	body, err := decode[reflectRequest](r)
	if err != nil {
		return err
	}
	var c checks
	owner := c.owner("user_id", r.key, body.UserID)
	if err := c.err(); err != nil {
		return err
	}
	result, err := s.Reflector.Reflect(ctx, owner, body.Force)
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, reflectBody{result.At, result.Facts, result.Skipped, memoriesOf(result.Insights), atLeastEmpty(result.Retired)})
}

type undoBody struct {
	Memory   memoryBody   `json:"memory"`
	Restored []memoryBody `json:"restored"`
}

func (s *Server) undoMemory(ctx context.Context, r *request) error {
	id, err := memoryID(r)
	if err != nil {
		return err
	}
	m, restored, err := s.Undoer.Undo(ctx, r.key.AppID, id)
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, undoBody{memoryOf(m), memoriesOf(restored)})
}

func memoriesOf(list []memory.Memory) []memoryBody {
	bodies := make([]memoryBody, len(list))
	for i, m := range list {
		bodies[i] = memoryOf(m)
	}
	return bodies
}

// expandSources asks for what each memory was derived from.
const expandSources = "sources"

// expand adds to each recalled memory those that it was derived from.
func (s *Server) expand(ctx context.Context, owner memory.Owner, recalled []recalledBody) error {
	var ids []string
	for _, m := range recalled {
		ids = append(ids, m.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	sources, err := s.Sources.Sources(ctx, owner, ids)
	if err != nil {
		return err
	}
	for i := range recalled {
		recalled[i].DerivedFrom = memoriesOf(sources[recalled[i].ID])
	}
	return nil
}
