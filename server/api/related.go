package api

import (
	"context"
	"net/http"

	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/recall/related"
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
	slots   *slots
}

func (h relatedHandlers) register(r *routes) {
	r.add("POST /v1/memories/:id/relations", memory.RoleWrite, withBody(h.relate))
	r.add("DELETE /v1/memories/:id/relations", memory.RoleWrite, h.unrelate)
	r.add("GET /v1/memories/:id/related", memory.RoleRead, h.slots.bound(h.find)) // it searches like a recall
}

const defaultRelated = 10 // memories

type relationRequest struct {
	To   string              `json:"to"`
	Kind memory.RelationKind `json:"kind"`
}

func (h relatedHandlers) relate(ctx context.Context, r *request, body relationRequest) (any, error) {
	id, err := r.memoryID()
	if err != nil {
		return nil, err
	}
	if !memory.IsID(body.To) {
		r.note("to", "is not the id of a memory")
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	relation := memory.Relation{From: id, Kind: body.Kind, To: body.To}
	relation, fresh, err := h.relater.Relate(ctx, r.key.AppID, relation)
	status := http.StatusOK
	if fresh {
		status = http.StatusCreated
	}
	return withStatus(status, wire.RelationOf(relation)), err
}

func (h relatedHandlers) unrelate(ctx context.Context, r *request) (any, error) {
	id, err := r.memoryID()
	if err != nil {
		return nil, err
	}
	relation, err := h.relater.Unrelate(ctx, r.key.AppID, memory.Relation{
		From: id, Kind: memory.RelationKind(r.query.Get("kind")), To: r.query.Get("to"),
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

func (h relatedHandlers) find(ctx context.Context, r *request) (any, error) {
	id, err := r.memoryID()
	if err != nil {
		return nil, err
	}
	agentID, limit := r.queryID("agent_id"), defaultRelated
	if r.query.Has("limit") {
		limit = r.limit()
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	found, err := h.relater.Find(ctx, r.key.AppID, id, agentID, limit)
	body := struct {
		Memories []relatedBody `json:"memories"`
		Degraded []string      `json:"degraded"`
	}{[]relatedBody{}, notNil(found.Degraded)}
	for _, f := range found.Memories {
		body.Memories = append(body.Memories, relatedBody{wire.MemoryOf(f.Memory), f.Score, bodiesOf(f.Reasons, reasonOf)})
	}
	return body, err
}
