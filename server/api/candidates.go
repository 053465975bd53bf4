package api

import (
	"context"
	"fmt"
	"time"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// CandidateParts are the parts behind the routes of candidates.
type CandidateParts struct {
	Lister    CandidateLister
	Promoter  Promoter
	Threshold func(ctx context.Context, appID string) (memory.Threshold, error) // of the gate
}

// CandidateLister reads candidates page by page, and counts them; db.Maintenance implements it.
type CandidateLister interface {
	ListCandidates(ctx context.Context, f db.CandidateFilter) ([]db.Proposal, error)
	CountCandidates(ctx context.Context, owner memory.Owner) ([]db.CandidateCount, error)
}

// Promoter makes memories of candidates that the gate refused; package ingest
// implements it.
type Promoter interface {
	// Promote returns more = true if the same call would promote further candidates.
	Promote(ctx context.Context, p ingest.Promotion) (results []ingest.Promoted, more bool, err error)
}

type candidateHandlers struct {
	CandidateParts
	quotas *quotas
	slots  *frame.Slots
}

func (h candidateHandlers) register(r *frame.Routes) {
	r.Add("GET /v1/candidates", memory.RoleRead, frame.List[db.CandidateFilter, db.Proposal, proposalBody]{
		Name:     "candidates",
		Filter:   candidateFilter,
		Find:     h.Lister.ListCandidates,
		Body:     proposalOf,
		Position: func(p db.Proposal) db.Position { return db.Position{At: p.CreatedAt, ID: p.ID} },
	}.Handle)
	r.Add("GET /v1/candidates/counts", memory.RoleRead, h.count)
	r.Add("POST /v1/candidates/promote", memory.RoleWrite,
		h.slots.Bound(h.quotas.bound(frame.WithBody(h.promote), memories)))
}

type candidateBody struct {
	Content    string         `json:"content"`
	Importance float64        `json:"importance"`
	Domain     memory.Domain  `json:"domain,omitempty"`
	Type       memory.Type    `json:"type,omitempty"`
	ExpiresAt  time.Time      `json:"expires_at,omitzero"`
	Tags       []string       `json:"tags,omitempty"`
	Verdict    memory.Verdict `json:"verdict"`
	Reason     string         `json:"reason"`
	Scorer     string         `json:"scorer"`
	MemoryID   string         `json:"memory_id,omitempty"`
}

func candidateOf(c memory.Candidate) candidateBody {
	return candidateBody{
		Content: c.Content, Importance: c.Importance, Domain: c.Domain, Type: c.Type,
		ExpiresAt: c.ExpiresAt, Tags: c.Tags, Verdict: c.Verdict, Reason: c.Reason, Scorer: c.Scorer, MemoryID: c.MemoryID,
	}
}

// proposalBody is a candidate with fields of its turn.
type proposalBody struct {
	ID             string `json:"id"`
	UserID         string `json:"user_id"`
	AgentID        string `json:"agent_id,omitempty"`
	ConversationID string `json:"conversation_id,omitempty"`
	TurnID         string `json:"turn_id"`
	candidateBody
	SaidAt    time.Time `json:"said_at"`
	CreatedAt time.Time `json:"created_at"`
}

func proposalOf(p db.Proposal) proposalBody {
	return proposalBody{
		ID: p.ID, UserID: p.Owner.UserID, AgentID: p.AgentID, ConversationID: p.ConversationID, TurnID: p.TurnID,
		candidateBody: candidateOf(p.Candidate), SaidAt: p.SaidAt, CreatedAt: p.CreatedAt,
	}
}

func candidateFilter(r *frame.Request, p frame.Page) db.CandidateFilter {
	return db.CandidateFilter{
		AppID: r.Key.AppID, UserID: r.QueryID("user_id"),
		MinImportance: r.QueryFloat("min_importance"), MaxImportance: r.QueryFloat("max_importance"),
		Verdict: memory.Verdict(r.Query.Get("verdict")), Before: p.Before, Limit: p.Limit,
	}
}

// candidateCountsBody counts a user's candidates by importance.
type candidateCountsBody struct {
	Threshold float64              `json:"threshold"`
	Counts    []candidateCountBody `json:"counts"`
}

type candidateCountBody struct {
	Importance float64        `json:"importance"`
	Verdict    memory.Verdict `json:"verdict"`
	Count      int            `json:"count"`
}

func (h candidateHandlers) count(ctx context.Context, r *frame.Request) (any, error) {
	owner := memory.Owner{AppID: r.Key.AppID, UserID: r.QueryID("user_id")}
	if err := r.Err(); err != nil {
		return nil, err
	}
	counts, err := h.Lister.CountCandidates(ctx, owner)
	if err != nil {
		return nil, err
	}
	gate, err := h.Threshold(ctx, owner.AppID)
	return candidateCountsBody{
		Threshold: gate.Value,
		Counts:    frame.BodiesOf(counts, func(c db.CandidateCount) candidateCountBody { return candidateCountBody(c) }),
	}, err
}

type promoteRequest struct {
	IDs           []string `json:"ids"`
	UserID        string   `json:"user_id"`
	MinImportance *float64 `json:"min_importance"`
}

// promotedBody is the result for one candidate: a verdict and a memory, or an error.
type promotedBody struct {
	CandidateID string         `json:"candidate_id"`
	Verdict     memory.Verdict `json:"verdict,omitempty"`
	Reason      string         `json:"reason,omitempty"`
	MemoryID    string         `json:"memory_id,omitempty"`
	Error       *frame.Problem `json:"error,omitempty"`
}

func promotedOf(p ingest.Promoted) promotedBody {
	body := promotedBody{CandidateID: p.CandidateID, Verdict: p.Verdict, Reason: p.Reason, MemoryID: p.MemoryID}
	if p.Err != nil {
		body.Error = frame.ProblemPointer(p.Err)
	}
	return body
}

type promotionBody struct {
	Results []promotedBody `json:"results"`
	More    bool           `json:"more"`
	Next    string         `json:"next,omitempty"`
}

func (h candidateHandlers) promote(ctx context.Context, r *frame.Request, body promoteRequest) (any, error) {
	switch {
	case body.IDs == nil && body.UserID == "":
		r.Note("body", "chooses nothing: give ids, or user_id with min_importance")
	case body.IDs != nil && (body.UserID != "" || body.MinImportance != nil):
		r.Note("ids", "is given with user_id or min_importance: give one or the other")
	case body.IDs == nil:
		r.Note("user_id", memory.CheckID(body.UserID, false))
		if body.MinImportance == nil {
			r.Note("min_importance", "is missing: give the least importance to promote, 0 for all")
		}
	}
	for i, id := range body.IDs {
		r.Note(fmt.Sprintf("ids[%d]", i), memory.CheckID(id, false))
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if err := admitKey(r); err != nil {
		return nil, err
	}
	results, more, err := h.Promoter.Promote(ctx, ingest.Promotion{
		AppID: r.Key.AppID, IDs: body.IDs, UserID: body.UserID, MinImportance: frame.OrDefault(body.MinImportance, 0),
	})
	if err == nil {
		err = unavailable(frame.BodiesOf(results, func(p ingest.Promoted) error { return p.Err }))
	}
	promotion := promotionBody{Results: frame.BodiesOf(results, promotedOf), More: more}
	if more {
		promotion.Next = fmt.Sprintf("%d at once are promoted: send the same request again for the next ones",
			ingest.MaxPromoted)
	}
	return promotion, err
}
