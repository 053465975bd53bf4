package api

import (
	"context"
	"net/http"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/recall/related"
)

// Relater relates memories and finds related ones; recall/related implements it.
type Relater interface {
	// Relate states a relation; fresh is false where it was known.
	Relate(ctx context.Context, appID string, r memory.Relation) (stored memory.Relation, fresh bool, err error)
	// Unrelate takes one back.
	Unrelate(ctx context.Context, appID string, r memory.Relation) (memory.Relation, error)
	Find(ctx context.Context, appID, id, agentID string, limit int) (related.Answer, error)
}

const defaultRelated = 10 // memories

type relationBody struct {
	From      string              `json:"from"`
	Kind      memory.RelationKind `json:"kind"`
	To        string              `json:"to"`
	CreatedAt time.Time           `json:"created_at"`
}

func (s *Server) postRelation(ctx context.Context, r *request) error {
	id, err := memoryID(r)
	if err != nil {
		return err
	}
	body, err := decode[struct {
		To   string              `json:"to"`
		Kind memory.RelationKind `json:"kind"`
	}](r)
	if err != nil {
		return err
	}
	var c checks
	if !memory.IsID(body.To) {
		c.note("to", "is not the id of a memory")
	}
	if err := c.err(); err != nil {
		return err
	}
	relation, fresh, err := s.Related.Relate(ctx, r.key.AppID, memory.Relation{From: id, Kind: body.Kind, To: body.To})
	if err != nil {
		return err
	}
	status := http.StatusOK
	if fresh {
		status = http.StatusCreated
	}
	return r.JSON(status, relationBody{relation.From, relation.Kind, relation.To, relation.CreatedAt})
}

func (s *Server) deleteRelation(ctx context.Context, r *request) error {
	id, err := memoryID(r)
	if err != nil {
		return err
	}
	relation, err := s.Related.Unrelate(ctx, r.key.AppID, memory.Relation{
		From: id, Kind: memory.RelationKind(r.query.Get("kind")), To: r.query.Get("to"),
	})
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, relationBody{relation.From, relation.Kind, relation.To, relation.CreatedAt})
}

type relatedBody struct {
	Memory  memoryBody   `json:"memory"`
	Score   float64      `json:"score"`
	Reasons []reasonBody `json:"reasons"`
}

type reasonBody struct {
	Why      related.Why   `json:"why"`
	Strength float64       `json:"strength"`
	Relation *relationBody `json:"relation,omitempty"`
	Distance int           `json:"distance,omitempty"`
	Tags     []string      `json:"tags,omitempty"`
	Cosine   float64       `json:"similarity,omitempty"`
}

func reasonOf(r related.Reason) reasonBody {
	body := reasonBody{Why: r.Why, Strength: r.Strength, Distance: r.Distance, Tags: r.Tags, Cosine: r.Cosine}
	if r.Why == related.ByRelation {
		body.Relation = &relationBody{r.Relation.From, r.Relation.Kind, r.Relation.To, r.Relation.CreatedAt}
	}
	return body
}

func (s *Server) getRelated(ctx context.Context, r *request) error {
	id, err := memoryID(r)
	if err != nil {
		return err
	}
	var c checks
	agentID, limit := r.query.Get("agent_id"), defaultRelated
	c.note("query.agent_id", memory.CheckID(agentID, true))
	if r.query.Has("limit") {
		limit = c.limit(r)
	}
	if err := c.err(); err != nil {
		return err
	}
	found, err := s.Related.Find(ctx, r.key.AppID, id, agentID, limit)
	if err != nil {
		return err
	}
	answer := struct {
		Memories []relatedBody `json:"memories"`
		Degraded []string      `json:"degraded"`
	}{[]relatedBody{}, atLeastEmpty(found.Degraded)}
	for _, f := range found.Memories {
		body := relatedBody{Memory: memoryOf(f.Memory), Score: f.Score}
		for _, reason := range f.Reasons {
			body.Reasons = append(body.Reasons, reasonOf(reason))
		}
		answer.Memories = append(answer.Memories, body)
	}
	return r.JSON(http.StatusOK, answer)
}
