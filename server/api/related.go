package api

import (
	"context"
	"net/http"

	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/recall/related"
	"hippocampus/server/frame"
)

// Relater relates memories and finds related ones; recall/related implements it.
type Relater interface {
	// Relate states a relation; fresh is false if it is known already.
	Relate(ctx context.Context, appID string, r memory.Relation) (stored memory.Relation, fresh bool, err error)
	// Unrelate deletes a relation and returns it.
	Unrelate(ctx context.Context, appID string, r memory.Relation) (memory.Relation, error)
	Find(ctx context.Context, appID, id, agentID string, limit int) (related.Answer, error)
}

type relatedHandlers struct {
	relater Relater
	slots   *frame.Slots
}

func (h relatedHandlers) register(r *frame.Routes) {
	r.Add("POST /v1/memories/:id/relations", memory.RoleWrite, frame.WithBody(h.relate))
	r.Add("DELETE /v1/memories/:id/relations", memory.RoleWrite, h.unrelate)
	r.Add("GET /v1/memories/:id/related", memory.RoleRead, h.slots.Bound(h.find)) // it searches like a recall
}

const defaultRelated = 10 // memories

type relationRequest struct {
	To   string              `json:"to"`
	Kind memory.RelationKind `json:"kind"`
}

func (h relatedHandlers) relate(ctx context.Context, r *frame.Request, body relationRequest) (any, error) {
	id, err := r.MemoryID()
	if err != nil {
		return nil, err
	}
	if !memory.IsID(body.To) {
		r.Note("to", "is not the id of a memory")
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	relation := memory.Relation{From: id, Kind: body.Kind, To: body.To}
	relation, fresh, err := h.relater.Relate(ctx, r.Key.AppID, relation)
	status := http.StatusOK
	if fresh {
		status = http.StatusCreated
	}
	return frame.WithStatus(status, wire.RelationOf(relation)), err
}

func (h relatedHandlers) unrelate(ctx context.Context, r *frame.Request) (any, error) {
	id, err := r.MemoryID()
	if err != nil {
		return nil, err
	}
	relation, err := h.relater.Unrelate(ctx, r.Key.AppID, memory.Relation{
		From: id, Kind: memory.RelationKind(r.Query.Get("kind")), To: r.Query.Get("to"),
	})
	return wire.RelationOf(relation), err
}

type relatedBody struct {
	Memory  wire.Memory  `json:"memory"`
	Score   float64      `json:"score"`
	Reasons []reasonBody `json:"reasons"`
}

type reasonBody struct {
	Why      related.Why    `json:"why"`
	Strength float64        `json:"strength"`
	Relation *wire.Relation `json:"relation,omitempty"`
	Distance int            `json:"distance,omitempty"`
	Tags     []string       `json:"tags,omitempty"`
	Cosine   float64        `json:"similarity,omitempty"`
}

func reasonOf(r related.Reason) reasonBody {
	body := reasonBody{Why: r.Why, Strength: r.Strength, Distance: r.Distance, Tags: r.Tags, Cosine: r.Cosine}
	if r.Why == related.ByRelation {
		relation := wire.RelationOf(r.Relation)
		body.Relation = &relation
	}
	return body
}

func (h relatedHandlers) find(ctx context.Context, r *frame.Request) (any, error) {
	id, err := r.MemoryID()
	if err != nil {
		return nil, err
	}
	agentID, limit := r.QueryID("agent_id"), defaultRelated
	if r.Query.Has("limit") {
		limit = r.Limit()
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	found, err := h.relater.Find(ctx, r.Key.AppID, id, agentID, limit)
	body := struct {
		Memories []relatedBody `json:"memories"`
		Degraded []string      `json:"degraded"`
	}{[]relatedBody{}, frame.NotNil(found.Degraded)}
	for _, f := range found.Memories {
		reasons := frame.BodiesOf(f.Reasons, reasonOf)
		body.Memories = append(body.Memories, relatedBody{wire.MemoryOf(f.Memory), f.Score, reasons})
	}
	return body, err
}
