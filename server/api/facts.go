package api

import (
	"context"
	"encoding/json"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/knowledge/facts"
	"hippocampus/server/frame"
)

// FactParts are the parts behind the routes of timeline facts.
type FactParts struct {
	Writer FactWriter
	Reader FactReader
}

// FactWriter changes timelines; package facts implements it.
type FactWriter interface {
	// Put weighs evidence. KindInvalid: its fields are wrong.
	Put(ctx context.Context, owner memory.Owner, e facts.Evidence, cause string) (facts.Outcome, error)
	// End ends the fact that is valid at an instant; zero: now. KindNotFound: no
	// fact is valid then.
	End(ctx context.Context, owner memory.Owner, factType, key string, at time.Time, cause string) (memory.Fact, error)
}

// FactReader reads timelines; db.Timelines implements it.
type FactReader interface {
	ListFacts(ctx context.Context, f db.FactFilter) ([]memory.Fact, error)
	FactHistory(ctx context.Context, t db.Timeline, after *db.Position, limit int) ([]memory.Fact, error)
}

type factHandlers struct {
	FactParts
	now    func() time.Time
	quotas *quotas
	slots  *frame.Slots
	modes  ModeKeeper
}

func (h factHandlers) register(r *frame.Routes) {
	r.Add("PUT /v1/facts", memory.RoleWrite, h.slots.Bound(h.quotas.bound(frame.WithBody(h.put), memories)))
	r.Add("GET /v1/facts", memory.RoleRead, frame.List[db.FactFilter, memory.Fact, factBody]{
		Name:     "facts",
		Filter:   h.filter,
		Find:     h.Reader.ListFacts,
		Body:     factOf,
		Position: func(f memory.Fact) db.Position { return db.Position{At: f.ValidFrom, ID: f.ID} },
	}.Handle)
	r.Add("DELETE /v1/facts", memory.RoleWrite, h.end)
	r.Add("GET /v1/facts/history", memory.RoleRead, frame.List[timelinePage, memory.Fact, factBody]{
		Name:   "facts",
		Filter: func(r *frame.Request, p frame.Page) timelinePage { return timelinePage{timelineIn(r), p} },
		Find: func(ctx context.Context, p timelinePage) ([]memory.Fact, error) {
			return h.Reader.FactHistory(ctx, p.timeline, p.Before, p.Limit)
		},
		Body:     factOf,
		Position: func(f memory.Fact) db.Position { return db.Position{At: f.RecordedAt, ID: f.ID} },
	}.Handle)
}

type timelinePage struct {
	timeline db.Timeline
	frame.Page
}

type factRequest struct {
	UserID     string          `json:"user_id"`
	Type       string          `json:"type"`
	Key        string          `json:"key"`
	Value      json.RawMessage `json:"value"`
	Confidence *float64        `json:"confidence"`
	ValidFrom  string          `json:"valid_from"`
	ValidUntil string          `json:"valid_until"`
	Source     string          `json:"source"`
}

type factBody struct {
	wire.Fact
	MemoryID   string    `json:"memory_id,omitempty"`
	RecordedAt time.Time `json:"recorded_at"`
}

func factOf(f memory.Fact) factBody {
	return factBody{wire.FactOf(f), f.MemoryID, f.RecordedAt}
}

// outcomeBody is evidence as it was recorded, with the fact that it was weighed against:
// the fact that it replaced, or the fact that stays valid.
type outcomeBody struct {
	Fact     factBody  `json:"fact"`
	Replaced *factBody `json:"replaced,omitempty"`
	Stands   *factBody `json:"stands,omitempty"`

	frame.Altered
}

const defaultConfidence = 1

func (h factHandlers) put(ctx context.Context, r *frame.Request, body factRequest) (any, error) {
	owner := r.BodyOwner(body.UserID)
	evidence := facts.Evidence{
		Type: body.Type, Key: body.Key, Value: body.Value, Confidence: frame.OrDefault(body.Confidence, defaultConfidence),
		ValidFrom: r.Time("valid_from", body.ValidFrom), ValidUntil: r.Time("valid_until", body.ValidUntil),
		Source: body.Source,
	}
	r.Note("type", facts.CheckName(body.Type))
	r.Note("key", facts.CheckName(body.Key))
	if err := r.Err(); err != nil {
		return nil, err
	}
	if err := admitWrite(ctx, r, h.modes, owner, ""); err != nil {
		return nil, err
	}
	outcome, err := h.Writer.Put(ctx, owner, evidence, "api")
	result := outcomeBody{Fact: factOf(outcome.Fact), Altered: r.Altered}
	if outcome.Previous != nil {
		against := factOf(*outcome.Previous)
		if outcome.Fact.State == memory.FactAccepted {
			result.Replaced = &against
		} else {
			result.Stands = &against
		}
	}
	return result, err
}

func (h factHandlers) end(ctx context.Context, r *frame.Request) (any, error) {
	t, at := timelineIn(r), r.QueryTime("at")
	if err := r.Err(); err != nil {
		return nil, err
	}
	ended, err := h.Writer.End(ctx, t.Owner, t.Type, t.Key, at, "api")
	return factOf(ended), err
}

func (h factHandlers) filter(r *frame.Request, p frame.Page) db.FactFilter {
	t := timelineIn(r)
	filter := db.FactFilter{
		Owner: t.Owner, Type: t.Type, Key: t.Key, At: r.QueryTime("at"), Before: p.Before, Limit: p.Limit,
	}
	switch all := r.Query.Get("all") == "true"; {
	case all && !filter.At.IsZero():
		r.Note("query.at", "is given with all=true, which does not ask for an instant: leave one of them out")
	case !all && filter.At.IsZero():
		filter.At = memory.Instant(h.now())
	}
	return filter
}

// timelineIn reads the query parameters that name a timeline; Type and Key are
// empty if they are absent.
func timelineIn(r *frame.Request) db.Timeline {
	return db.Timeline{Owner: r.QueryOwner(), Type: factNameIn(r, "type"), Key: factNameIn(r, "key")}
}

// factNameIn reads a type or key from the query, in the form in which it is stored.
func factNameIn(r *frame.Request, parameter string) string {
	name := r.Query.Get(parameter)
	if name != "" {
		r.Note("query."+parameter, facts.CheckName(name))
	}
	return facts.CanonicalName(name)
}
