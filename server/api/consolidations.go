package api

import (
	"context"
	"net/http"

	"hippocampus/conversation/consolidation"
	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/server/frame"
)

// ConsolidationParts are the parts behind the routes that end conversations and
// list consolidations.
type ConsolidationParts struct {
	Consolidator Consolidator
	Lister       ConsolidationLister
}

// Consolidator ends and consolidates conversations; package consolidation implements it.
type Consolidator interface {
	End(
		ctx context.Context, appID, userID, id string, trigger memory.ConsolidationTrigger,
	) (consolidation.Ended, error)
	// Consolidate consolidates a conversation that stays open.
	Consolidate(ctx context.Context, appID, userID, id string, mode consolidation.Mode) (consolidation.Ended, error)
	// Await waits until no consolidation of the conversation is pending, or ctx ends.
	Await(ctx context.Context, ended consolidation.Ended) (consolidation.Ended, error)
}

// ConsolidationLister reads consolidations page by page; db.Consolidations implements it.
type ConsolidationLister interface {
	ListConsolidations(ctx context.Context, f db.ConsolidationFilter) ([]memory.Consolidation, error)
}

type consolidationHandlers struct {
	ConsolidationParts
	conversations ConversationReader
	waiter        frame.Waiter
}

func (h consolidationHandlers) register(r *frame.Routes) {
	r.Add("POST /v1/conversations/:id/end", memory.RoleWrite, frame.WithBody(h.end))
	r.Add("POST /v1/conversations/:id/consolidate", memory.RoleWrite, frame.WithBody(h.consolidate))
	r.Add("GET /v1/conversations/:id/consolidations", memory.RoleRead,
		frame.List[consolidationQuery, memory.Consolidation, wire.Consolidation]{
			Name:     "consolidations",
			Filter:   consolidationQueryOf,
			Find:     h.find,
			Body:     wire.ConsolidationOf,
			Position: func(c memory.Consolidation) db.Position { return db.Position{At: c.CreatedAt, ID: c.ID} },
		}.Handle)
}

type endRequest struct {
	UserID string `json:"user_id"`
	Wait   bool   `json:"wait"`
}

type endedBody struct {
	Conversation   conversationBody     `json:"conversation"`
	Consolidations []wire.Consolidation `json:"consolidations"`
}

func (h consolidationHandlers) end(ctx context.Context, r *frame.Request, body endRequest) (any, error) {
	return h.start(ctx, r, body, func(id string) (consolidation.Ended, error) {
		return h.Consolidator.End(ctx, r.Key.AppID, body.UserID, id, memory.TriggerEnd)
	})
}

type consolidateRequest struct {
	endRequest
	Mode consolidation.Mode `json:"mode"`
}

func (h consolidationHandlers) consolidate(
	ctx context.Context, r *frame.Request, body consolidateRequest,
) (any, error) {
	return h.start(ctx, r, body.endRequest, func(id string) (consolidation.Ended, error) {
		return h.Consolidator.Consolidate(ctx, r.Key.AppID, body.UserID, id, body.Mode)
	})
}

// start begins the consolidations of the conversation that the path names, and
// waits for them if the request asks for it.
func (h consolidationHandlers) start(ctx context.Context, r *frame.Request, body endRequest,
	begin func(id string) (consolidation.Ended, error)) (any, error) {
	id := r.PathValue("id")
	r.Note("path.id", memory.CheckID(id, false))
	r.Note("user_id", memory.CheckID(body.UserID, true))
	if err := r.Err(); err != nil {
		return nil, err
	}
	begun, err := begin(id)
	if err == nil && body.Wait {
		waiting, cancel := h.waiter.Context(ctx)
		defer cancel()
		begun, err = h.Consolidator.Await(waiting, begun)
	}
	status := http.StatusOK
	if begun.Pending() {
		status = http.StatusAccepted
	}
	return frame.WithStatus(status, endedBody{
		conversationOf(begun.Conversation), frame.BodiesOf(begun.Consolidations, wire.ConsolidationOf),
	}), err
}

// consolidationQuery asks for a page of the consolidations of a conversation.
type consolidationQuery struct {
	appID, userID, conversationID string
	page                          frame.Page
}

func consolidationQueryOf(r *frame.Request, p frame.Page) consolidationQuery {
	userID, id := conversationIDOf(r)
	return consolidationQuery{appID: r.Key.AppID, userID: userID, conversationID: id, page: p}
}

func (h consolidationHandlers) find(ctx context.Context, q consolidationQuery) ([]memory.Consolidation, error) {
	found, err := h.conversations.Conversation(ctx, q.appID, q.userID, q.conversationID)
	if err != nil {
		return nil, err
	}
	return h.Lister.ListConsolidations(ctx, db.ConsolidationFilter{
		Owner: found.Owner, ConversationID: found.ID, Before: q.page.Before, Limit: q.page.Limit,
	})
}
