package api

import (
	"context"
	"net/http"

	"hippocampus/conversation/consolidation"
	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
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
	// Consolidate consolidates a conversation that goes on.
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
	waiter        waiter
}

func (h consolidationHandlers) register(r *routes) {
	r.add("POST /v1/conversations/:id/end", memory.RoleWrite, withBody(h.end))
	r.add("POST /v1/conversations/:id/consolidate", memory.RoleWrite, withBody(h.consolidate))
	r.add("GET /v1/conversations/:id/consolidations", memory.RoleRead,
		list[consolidationQuery, memory.Consolidation, wire.Consolidation]{
			name:     "consolidations",
			filter:   consolidationQueryOf,
			find:     h.find,
			body:     wire.ConsolidationOf,
			position: func(c memory.Consolidation) db.Position { return db.Position{At: c.CreatedAt, ID: c.ID} },
		}.handle)
}

type endRequest struct {
	UserID string `json:"user_id"`
	Wait   bool   `json:"wait"`
}

type endedBody struct {
	Conversation   conversationBody     `json:"conversation"`
	Consolidations []wire.Consolidation `json:"consolidations"`
}

func (h consolidationHandlers) end(ctx context.Context, r *request, body endRequest) (any, error) {
	return h.start(ctx, r, body, func(id string) (consolidation.Ended, error) {
		return h.Consolidator.End(ctx, r.key.AppID, body.UserID, id, memory.TriggerEnd)
	})
}

type consolidateRequest struct {
	endRequest
	Mode consolidation.Mode `json:"mode"`
}

func (h consolidationHandlers) consolidate(ctx context.Context, r *request, body consolidateRequest) (any, error) {
	return h.start(ctx, r, body.endRequest, func(id string) (consolidation.Ended, error) {
		return h.Consolidator.Consolidate(ctx, r.key.AppID, body.UserID, id, body.Mode)
	})
}

// start begins the consolidations of the conversation that the path names, and
// waits for them if the request asks for it.
func (h consolidationHandlers) start(ctx context.Context, r *request, body endRequest,
	begin func(id string) (consolidation.Ended, error)) (any, error) {
	id := r.param("id")
	r.note("path.id", memory.CheckID(id, false))
	r.note("user_id", memory.CheckID(body.UserID, true))
	if err := r.err(); err != nil {
		return nil, err
	}
	begun, err := begin(id)
	if err == nil && body.Wait {
		waiting, cancel := h.waiter.context(ctx)
		defer cancel()
		begun, err = h.Consolidator.Await(waiting, begun)
	}
	status := http.StatusOK
	if begun.Pending() {
		status = http.StatusAccepted
	}
	return withStatus(status, endedBody{
		conversationOf(begun.Conversation), bodiesOf(begun.Consolidations, wire.ConsolidationOf),
	}), err
}

// consolidationQuery asks for a page of the consolidations of a conversation.
type consolidationQuery struct {
	appID, userID, conversationID string
	page                          page
}

func consolidationQueryOf(r *request, p page) consolidationQuery {
	userID, id := conversationIDOf(r)
	return consolidationQuery{appID: r.key.AppID, userID: userID, conversationID: id, page: p}
}

func (h consolidationHandlers) find(ctx context.Context, q consolidationQuery) ([]memory.Consolidation, error) {
	found, err := h.conversations.Conversation(ctx, q.appID, q.userID, q.conversationID)
	if err != nil {
		return nil, err
	}
	return h.Lister.ListConsolidations(ctx, db.ConsolidationFilter{
		Owner: found.Owner, ConversationID: found.ID, Before: q.page.before, Limit: q.page.limit,
	})
}
