package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"hippocampus/conversation/consolidation"
	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Consolidator ends conversations; package consolidation implements it.
type Consolidator interface {
	End(ctx context.Context, appID, userID, id string, trigger memory.ConsolidationTrigger) (consolidation.Ended, error)
	// Await waits until nothing of the end is pending, or ctx ends.
	Await(ctx context.Context, ended consolidation.Ended) (consolidation.Ended, error)
}

// ConsolidationLister pages through consolidations; db.Consolidations has it.
type ConsolidationLister interface {
	ListConsolidations(ctx context.Context, f db.ConsolidationFilter) ([]memory.Consolidation, error)
}

// consolidationBody is a consolidation as clients see it.
type consolidationBody struct {
	ID        string                      `json:"id"`
	Type      memory.ConsolidationType    `json:"type"`
	Trigger   memory.ConsolidationTrigger `json:"trigger"`
	State     memory.ConsolidationState   `json:"state"`
	From      int64                       `json:"from_event"`
	Through   int64                       `json:"through_event"`
	Counts    json.RawMessage             `json:"counts,omitempty"`
	Error     string                      `json:"error,omitempty"`
	Attempts  int                         `json:"attempts"`
	CreatedAt time.Time                   `json:"created_at"`
	StartedAt time.Time                   `json:"started_at,omitzero"`
	EndedAt   time.Time                   `json:"ended_at,omitzero"`
}

func consolidationsOf(list []memory.Consolidation) []consolidationBody {
	bodies := make([]consolidationBody, len(list))
	for i, c := range list {
		bodies[i] = consolidationBody{c.ID, c.Type, c.Trigger, c.State, c.From, c.Through, c.Counts, c.Error, c.Attempts, c.CreatedAt, c.StartedAt, c.EndedAt}
	}
	return bodies
}

type endRequest struct {
	UserID string `json:"user_id"`
	Wait   bool   `json:"wait"`
}

type endedBody struct {
	Conversation   conversationBody    `json:"conversation"`
	Consolidations []consolidationBody `json:"consolidations"`
}

func (s *Server) endConversation(ctx context.Context, r *request) error {
	body, err := decode[endRequest](r)
	if err != nil {
		return err
	}
	id := r.param("id")
	var c checks
	c.note("path.id", memory.CheckID(id, false))
	c.note("user_id", memory.CheckID(body.UserID, true))
	if err := c.err(); err != nil {
		return err
	}
	ended, err := s.Consolidator.End(ctx, r.key.AppID, body.UserID, id, memory.TriggerEnd)
	if err != nil {
		return err
	}
	if body.Wait {
		waiting, cancel := context.WithTimeout(ctx, s.WaitTimeout)
		defer cancel()
		defer context.AfterFunc(s.draining, cancel)()
		if ended, err = s.Consolidator.Await(waiting, ended); err != nil {
			return err
		}
	}
	status := http.StatusOK
	if ended.Pending() {
		status = http.StatusAccepted
	}
	return r.JSON(status, endedBody{conversationOf(ended.Conversation), consolidationsOf(ended.Consolidations)})
}

func (s *Server) listConsolidations(ctx context.Context, r *request) error {
	var c checks
	page := c.page(r)
	found, err := s.conversation(ctx, r, &c)
	if err != nil {
		return err
	}
	list, err := s.Consolidations.ListConsolidations(ctx, db.ConsolidationFilter{
		Owner: found.Owner, ConversationID: found.ID, Before: page.before, Limit: page.limit,
	})
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, struct {
		Consolidations []consolidationBody `json:"consolidations"`
		Next           string              `json:"next_cursor,omitempty"`
	}{consolidationsOf(list), page.next(len(list), func() db.Position {
		last := list[len(list)-1]
		return db.Position{At: last.CreatedAt, ID: last.ID}
	})})
}
