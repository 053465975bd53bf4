package api

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// RecallLister reads the log of recalls page by page; db.Recalls implements it.
type RecallLister interface {
	ListRecalls(ctx context.Context, f db.RecallFilter) ([]memory.LoggedRecall, error)
}

type loggedRecallBody struct {
	ID       string                `json:"id"`
	UserID   string                `json:"user_id"`
	AgentID  string                `json:"agent_id,omitempty"`
	Query    string                `json:"query"`
	Memories []memory.LoggedMemory `json:"memories"`
	Degraded []string              `json:"degraded"`
	TookMS   float64               `json:"took_ms"`
	At       time.Time             `json:"at"`
}

func loggedRecallOf(e memory.LoggedRecall) loggedRecallBody {
	return loggedRecallBody{
		ID: e.ID, UserID: e.UserID, AgentID: e.AgentID, Query: e.Query, Memories: notNil(e.Memories),
		Degraded: notNil(e.Degraded), TookMS: milliseconds(e.Took), At: e.At,
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// listRecalls makes the handler of the log of recalls.
func (h recallHandlers) listRecalls() handler {
	return list[db.RecallFilter, memory.LoggedRecall, loggedRecallBody]{
		name: "recalls",
		filter: func(r *request, p page) db.RecallFilter {
			return db.RecallFilter{Owner: r.queryOwner(), Before: p.before, Limit: p.limit}
		},
		find:     h.Log.ListRecalls,
		body:     loggedRecallOf,
		position: func(e memory.LoggedRecall) db.Position { return db.Position{At: e.At, ID: e.ID} },
	}.handle
}
