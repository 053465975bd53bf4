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
	ID       string             `json:"id"`
	UserID   string             `json:"user_id"`
	AgentID  string             `json:"agent_id,omitempty"`
	Query    string             `json:"query"`
	Memories []loggedMemoryBody `json:"memories"`
	Degraded []string           `json:"degraded"`
	TookMS   float64            `json:"took_ms"`
	At       time.Time          `json:"at"`
}

type loggedMemoryBody struct {
	memory.LoggedMemory
	Feedback memory.FeedbackKind `json:"feedback,omitempty"`
}

// loggedRecall is an entry of the log with the feedback on its memories, by their ids.
type loggedRecall struct {
	memory.LoggedRecall
	feedback map[string]memory.FeedbackKind
}

func loggedRecallOf(e loggedRecall) loggedRecallBody {
	return loggedRecallBody{
		ID: e.ID, UserID: e.UserID, AgentID: e.AgentID, Query: e.Query,
		Memories: frame.BodiesOf(e.Memories, func(m memory.LoggedMemory) loggedMemoryBody {
			return loggedMemoryBody{m, e.feedback[m.ID]}
		}),
		Degraded: frame.NotNil(e.Degraded), TookMS: milliseconds(e.Took), At: e.At,
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// listRecalls makes the handler of the log of recalls.
func (h recallHandlers) listRecalls() frame.Handler {
	return frame.List[db.RecallFilter, loggedRecall, loggedRecallBody]{
		Name: "recalls",
		Filter: func(r *frame.Request, p frame.Page) db.RecallFilter {
			return db.RecallFilter{Owner: r.QueryOwner(), Before: p.Before, Limit: p.Limit}
		},
		Find:     h.loggedRecalls,
		Body:     loggedRecallOf,
		Position: func(e loggedRecall) db.Position { return db.Position{At: e.At, ID: e.ID} },
	}.Handle
}

func (h recallHandlers) loggedRecalls(ctx context.Context, f db.RecallFilter) ([]loggedRecall, error) {
	found, err := h.Log.ListRecalls(ctx, f)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	list, ids := make([]loggedRecall, len(found)), make([]string, len(found))
	by := map[string]map[string]memory.FeedbackKind{}
	for i, e := range found {
		ids[i] = e.ID
		by[e.ID] = map[string]memory.FeedbackKind{}
		list[i] = loggedRecall{e, by[e.ID]}
	}
	given, err := h.Feedback.On(ctx, f.Owner, ids)
	for _, g := range given {
		by[g.SourceID][g.MemoryID] = g.Kind
	}
	return list, err
}
