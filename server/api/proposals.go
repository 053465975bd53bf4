package api

import (
	"context"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/reflection/derivation"
	"hippocampus/server/frame"
)

// InsightDecider lists insights that reflections propose, and decides about them; reflection/derivation implements it.
type InsightDecider interface {
	List(ctx context.Context, f db.ProposedFilter) ([]derivation.Proposed, error)
	Proposed(ctx context.Context, appID, id string) (derivation.Proposed, error)
	Approve(ctx context.Context, p derivation.Proposed) (derivation.Result, error)
	Reject(ctx context.Context, appID, id string) error
}

type insightHandlers struct {
	decider InsightDecider
	quotas  *quotas
	modes   ModeKeeper
}

func (h insightHandlers) register(r *frame.Routes) {
	r.Add("GET /v1/proposals", memory.RoleRead, frame.List[db.ProposedFilter, derivation.Proposed, insightBody]{
		Name: "proposals",
		Filter: func(r *frame.Request, p frame.Page) db.ProposedFilter {
			f := db.ProposedFilter{AppID: r.Key.AppID, UserID: r.QueryID("user_id"), Limit: p.Limit}
			if p.Before != nil {
				f.Before = p.Before.ID
			}
			return f
		},
		Find:     h.decider.List,
		Body:     insightOf,
		Position: func(p derivation.Proposed) db.Position { return db.Position{At: p.ProposedAt, ID: p.ID} },
	}.Handle)
	r.Add("POST /v1/proposals/:id/approve", memory.RoleWrite, h.quotas.bound(h.approve, memories))
	r.Add("POST /v1/proposals/:id/reject", memory.RoleWrite, h.reject)
}

type insightBody struct {
	ID         string         `json:"id"`
	UserID     string         `json:"user_id"`
	AgentID    string         `json:"agent_id,omitempty"`
	Content    string         `json:"content"`
	Domain     memory.Domain  `json:"domain"`
	Importance float64        `json:"importance"`
	ProposedAt time.Time      `json:"proposed_at"`
	Evidence   []evidenceBody `json:"evidence"`
}

// evidenceBody is a fact that an insight rests on.
type evidenceBody struct {
	Memory  wire.Memory `json:"memory"`
	Retires bool        `json:"retires"`
}

func insightOf(p derivation.Proposed) insightBody {
	evidence := make([]evidenceBody, len(p.Evidence))
	for i, m := range p.Evidence {
		evidence[i] = evidenceBody{wire.MemoryOf(m), slices.Contains(p.Retires, m.ID)}
	}
	return insightBody{
		ID: p.ID, UserID: p.Owner.UserID, AgentID: p.AgentID, Content: p.Content, Domain: p.Domain,
		Importance: p.Importance, ProposedAt: p.ProposedAt, Evidence: evidence,
	}
}

// approvedBody has the memory that a proposal became, or the one that says the same.
type approvedBody struct {
	Memory  wire.Memory `json:"memory"`
	Retired []string    `json:"retired"`
}

func (h insightHandlers) approve(ctx context.Context, r *frame.Request) (any, error) {
	id, err := r.PathID()
	if err != nil {
		return nil, err
	}
	p, err := h.decider.Proposed(ctx, r.Key.AppID, id)
	if err != nil {
		return nil, err
	}
	if err := admitWrite(ctx, r, h.modes, p.Owner, ""); err != nil {
		return nil, err
	}
	result, err := h.decider.Approve(ctx, p)
	if err != nil {
		return nil, err
	}
	body := approvedBody{Retired: frame.NotNil(result.Retired)}
	for _, m := range slices.Concat(result.Held, result.Stored) {
		body.Memory = wire.MemoryOf(m)
	}
	return body, nil
}

func (h insightHandlers) reject(ctx context.Context, r *frame.Request) (any, error) {
	id, err := r.PathID()
	if err != nil {
		return nil, err
	}
	return struct {
		ID string `json:"id"`
	}{id}, h.decider.Reject(ctx, r.Key.AppID, id)
}
