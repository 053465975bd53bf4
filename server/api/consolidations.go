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

// Consolidator ends conversations; package consolidation implements it.
type Consolidator interface {
	End(
		ctx context.Context, appID, userID, id string, trigger memory.ConsolidationTrigger,
	) (consolidation.Ended, error)
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
	id := r.param("id")
	r.note("path.id", memory.CheckID(id, false))
	r.note("user_id", memory.CheckID(body.UserID, true))
	if err := r.err(); err != nil {
		return nil, err
	}
	ended, err := h.Consolidator.End(ctx, r.key.AppID, body.UserID, id, memory.TriggerEnd)
	if err == nil && body.Wait {
		waiting, cancel := h.waiter.context(ctx)
		defer cancel()
		ended, err = h.Consolidator.Await(waiting, ended)
	}
	status := http.StatusOK
	if ended.Pending() {
		status = http.StatusAccepted
	}
	return answer{status, endedBody{
		conversationOf(ended.Conversation), bodiesOf(ended.Consolidations, wire.ConsolidationOf),
	}}, err
}

// consolidationQuery asks for a page of the consolidations of a conversation.
type consolidationQuery struct {
	appID, userID, conversationID string
	page                          page
}

func consolidationQueryOf(r *request, p page) consolidationQuery {
	userID, id := r.conversationID()
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
