package api

import (
	"context"
	"net/http"

	"hippocampus/internal/memory"
)

// statsBody counts an app's rows; kinds with no row are left out.
type statsBody struct {
	AppID      string                     `json:"app_id"`
	Users      int                        `json:"users"`
	Memories   map[memory.Status]int      `json:"memories"`
	Domains    map[memory.Domain]int      `json:"domains"`
	Types      map[memory.Type]int        `json:"types"`
	Turns      map[memory.TurnStatus]int  `json:"turns"`
	Candidates map[memory.Verdict]int     `json:"candidates"`
	Vectors    map[memory.VectorState]int `json:"vectors"`
	Retention  retentionBody              `json:"retention"`
	Embedding  *Embedding                 `json:"embedding,omitempty"`
}

// Embedding says by which models memories are embedded.
type Embedding struct {
	Serving   string `json:"serving"`
	Target    string `json:"target"`    // that is to serve
	Remaining int    `json:"remaining"` // active memories without an embedding by it, of all apps
}

func (s *Server) stats(ctx context.Context, r *request) error {
	n, err := s.Stats.Stats(ctx, r.key.AppID)
	if err != nil {
		return err
	}
	retention, err := s.retention.of(ctx, r.key.AppID)
	if err != nil {
		return err
	}
	var embedding *Embedding
	if s.Embedding != nil {
		e := s.Embedding()
		embedding = &e
	}
	return r.JSON(http.StatusOK, statsBody{
		AppID: r.key.AppID, Users: n.Users,
		Memories: orEmpty(n.Memories), Domains: orEmpty(n.Domains), Types: orEmpty(n.Types),
		Turns: orEmpty(n.Turns), Candidates: orEmpty(n.Candidates), Vectors: orEmpty(n.Vectors),
		Retention: retention, Embedding: embedding,
	})
}

// orEmpty makes a nil map an empty one, which JSON shows as {}.
func orEmpty[K comparable](counts map[K]int) map[K]int {
	if counts == nil {
		return map[K]int{}
	}
	return counts
}
