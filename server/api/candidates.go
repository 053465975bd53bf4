package api

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
)

// CandidateLister pages through candidates; db.Maintenance has it.
type CandidateLister interface {
	ListCandidates(ctx context.Context, f db.CandidateFilter) ([]db.Proposal, error)
}

// proposalBody is a candidate with what its turn says of it.
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

func (s *Server) listCandidates(ctx context.Context, r *request) error {
	var c checks
	page := c.page(r)
	filter := db.CandidateFilter{
		AppID: r.key.AppID, UserID: r.query.Get("user_id"), Verdict: memory.Verdict(r.query.Get("verdict")),
		MinImportance: c.importance(r), Before: page.before, Limit: page.limit,
	}
	c.note("query.user_id", memory.CheckID(filter.UserID, true))
	if err := c.err(); err != nil {
		return err
	}
	found, err := s.Candidates.ListCandidates(ctx, filter)
	if err != nil {
		return err
	}
	answer := struct {
		Candidates []proposalBody `json:"candidates"`
		Next       string         `json:"next_cursor,omitempty"`
	}{Candidates: []proposalBody{}}
	for _, p := range found {
		answer.Candidates = append(answer.Candidates, proposalBody{
			ID: p.ID, UserID: p.Owner.UserID, AgentID: p.AgentID, ConversationID: p.ConversationID, TurnID: p.TurnID,
			candidateBody: candidateOf(p.Candidate), SaidAt: p.SaidAt, CreatedAt: p.CreatedAt,
		})
	}
	answer.Next = page.next(len(found), func() db.Position {
		last := found[len(found)-1]
		return db.Position{At: last.CreatedAt, ID: last.ID}
	})
	return r.JSON(http.StatusOK, answer)
}

// importance reads the query parameter min_importance; 0 where it is left out.
func (c *checks) importance(r *request) float64 {
	text := r.query.Get("min_importance")
	if text == "" {
		return 0
	}
	importance, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(importance) {
		c.note("query.min_importance", "is not written as a plain number")
	}
	return importance
}

type promoteRequest struct {
	IDs           []string `json:"ids"`
	UserID        string   `json:"user_id"`
	MinImportance *float64 `json:"min_importance"`
}

// promotedBody is what became of one candidate: a verdict and memory, or an error.
type promotedBody struct {
	CandidateID string         `json:"candidate_id"`
	Verdict     memory.Verdict `json:"verdict,omitempty"`
	Reason      string         `json:"reason,omitempty"`
	MemoryID    string         `json:"memory_id,omitempty"`
	Error       *Problem       `json:"error,omitempty"`
}

type promotionBody struct {
	Results []promotedBody `json:"results"`
	More    bool           `json:"more"`
	Next    string         `json:"next,omitempty"`
}

// promoteCandidates makes memories of facts that the gate has refused.
func (s *Server) promoteCandidates(ctx context.Context, r *request) error {
	body, err := decode[promoteRequest](r)
	if err != nil {
		return err
	}
	promotion, err := body.promotion(r.key)
	if err != nil {
		return err
	}
	results, more, err := s.Ingest.Promote(ctx, promotion)
	if err != nil {
		return err
	}
	answer := promotionBody{Results: []promotedBody{}, More: more}
	if more {
		answer.Next = fmt.Sprintf("%d at once are promoted: send the same request again for the next ones", ingest.MaxPromoted)
	}
	for _, result := range results {
		promoted := promotedBody{CandidateID: result.CandidateID, Verdict: result.Verdict, Reason: result.Reason, MemoryID: result.MemoryID}
		if result.Err != nil {
			p := problemOf(result.Err)
			promoted.Error = &p
		}
		answer.Results = append(answer.Results, promoted)
	}
	return r.JSON(http.StatusOK, answer)
}

// promotion checks the request: by ids, or by user and importance.
func (b promoteRequest) promotion(key memory.Key) (ingest.Promotion, error) {
	var c checks
	p := ingest.Promotion{AppID: key.AppID, IDs: b.IDs, UserID: b.UserID, MinImportance: orDefault(b.MinImportance, 0)}
	switch {
	case b.IDs == nil && b.UserID == "":
		c.note("body", "chooses nothing: give ids, or user_id with min_importance")
	case b.IDs != nil && (b.UserID != "" || b.MinImportance != nil):
		c.note("ids", "is given with user_id or min_importance: give one or the other")
	case b.IDs == nil:
		c.note("user_id", memory.CheckID(b.UserID, false))
		if b.MinImportance == nil {
			c.note("min_importance", "is missing: give the least importance to promote, 0 for all")
		}
	}
	for i, id := range b.IDs {
		c.note(fmt.Sprintf("ids[%d]", i), memory.CheckID(id, false))
	}
	return p, c.err()
}
