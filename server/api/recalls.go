package api

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
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
		ID: e.ID, UserID: e.UserID, AgentID: e.AgentID, Query: e.Query, Memories: frame.NotNil(e.Memories),
		Degraded: frame.NotNil(e.Degraded), TookMS: milliseconds(e.Took), At: e.At,
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// listRecalls makes the handler of the log of recalls.
func (h recallHandlers) listRecalls() frame.Handler {
	return frame.List[db.RecallFilter, memory.LoggedRecall, loggedRecallBody]{
		Name: "recalls",
		Filter: func(r *frame.Request, p frame.Page) db.RecallFilter {
			return db.RecallFilter{Owner: r.QueryOwner(), Before: p.Before, Limit: p.Limit}
		},
		Find:     h.Log.ListRecalls,
		Body:     loggedRecallOf,
		Position: func(e memory.LoggedRecall) db.Position { return db.Position{At: e.At, ID: e.ID} },
	}.Handle
}
