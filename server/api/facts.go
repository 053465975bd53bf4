package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/facts"
)

// FactKeeper changes what is valid of users; package facts implements it.
type FactKeeper interface {
	// Put weighs evidence. KindInvalid: its fields are wrong.
	Put(ctx context.Context, owner memory.Owner, e facts.Evidence, cause string) (facts.Outcome, error)
	// End ends what is valid at an instant; zero: now. KindNotFound: nothing is.
	End(ctx context.Context, owner memory.Owner, factType, key string, at time.Time, cause string) (memory.Fact, error)
}

// FactReader reads what is valid of users; db.Timelines has it.
type FactReader interface {
	ListFacts(ctx context.Context, f db.FactFilter) ([]memory.Fact, error)
	FactHistory(ctx context.Context, t db.Timeline, after *db.Position, limit int) ([]memory.Fact, error)
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
	ID         string           `json:"id"`
	UserID     string           `json:"user_id"`
	Type       string           `json:"type"`
	Key        string           `json:"key"`
	Value      json.RawMessage  `json:"value,omitempty"` // null is one
	Confidence float64          `json:"confidence"`
	ValidFrom  time.Time        `json:"valid_from"`
	ValidUntil time.Time        `json:"valid_until,omitzero"`
	Source     string           `json:"source,omitempty"`
	State      memory.FactState `json:"state"`
	Reason     string           `json:"reason"`
	MemoryID   string           `json:"memory_id,omitempty"`
	RecordedAt time.Time        `json:"recorded_at"`
}

func factOf(f memory.Fact) factBody {
	return factBody{
		ID: f.ID, UserID: f.UserID, Type: f.Type, Key: f.Key, Value: f.Value, Confidence: f.Confidence,
		ValidFrom: f.ValidFrom, ValidUntil: f.ValidUntil, Source: f.Source, State: f.State, Reason: f.Reason,
		MemoryID: f.MemoryID, RecordedAt: f.RecordedAt,
	}
}

// outcomeBody is evidence as it is recorded, and what was valid before it: the
// fact that it replaced, or the one that stands.
type outcomeBody struct {
	Fact     factBody  `json:"fact"`
	Replaced *factBody `json:"replaced,omitempty"`
	Stands   *factBody `json:"stands,omitempty"`
}

const wholeConfidence = 1 // of evidence that names none

func (s *Server) putFact(ctx context.Context, r *request) error {
	body, err := decode[factRequest](r)
	if err != nil {
		return err
	}
	var c checks
	owner := c.owner("user_id", r.key, body.UserID)
	e := facts.Evidence{
		Type: body.Type, Key: body.Key, Value: body.Value, Confidence: orDefault(body.Confidence, wholeConfidence),
		ValidFrom: c.time("valid_from", body.ValidFrom), ValidUntil: c.time("valid_until", body.ValidUntil), Source: body.Source,
	}
	c.note("type", facts.CheckName(e.Type))
	c.note("key", facts.CheckName(e.Key))
	if err := c.err(); err != nil {
		return err
	}
	outcome, err := s.Facts.Put(ctx, owner, e, "api")
	if err != nil {
		return err
	}
	answer := outcomeBody{Fact: factOf(outcome.Fact)}
	if outcome.Previous != nil {
		against := factOf(*outcome.Previous)
		if outcome.Fact.State == memory.FactAccepted {
			answer.Replaced = &against
		} else {
			answer.Stands = &against
		}
	}
	return r.JSON(http.StatusOK, answer)
}

func (s *Server) endFact(ctx context.Context, r *request) error {
	var c checks
	line := c.timeline(r)
	at := c.time("query.at", r.query.Get("at"))
	if err := c.err(); err != nil {
		return err
	}
	ended, err := s.Facts.End(ctx, line.Owner, line.Type, line.Key, at, "api")
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, factOf(ended))
}

func (s *Server) listFacts(ctx context.Context, r *request) error {
	var c checks
	page := c.page(r)
	filter := db.FactFilter{
		Owner: c.owner("query.user_id", r.key, r.query.Get("user_id")),
		Type:  c.name(r, "type"), Key: c.name(r, "key"),
		At: c.time("query.at", r.query.Get("at")), Before: page.before, Limit: page.limit,
	}
	if err := c.err(); err != nil {
		return err
	}
	if filter.At.IsZero() {
		filter.At = memory.Instant(s.Now())
	}
	found, err := s.Timelines.ListFacts(ctx, filter)
	if err != nil {
		return err
	}
	return answerFacts(r, page, found, func(f memory.Fact) time.Time { return f.ValidFrom })
}

func (s *Server) factHistory(ctx context.Context, r *request) error {
	var c checks
	page, line := c.page(r), c.timeline(r)
	if err := c.err(); err != nil {
		return err
	}
	found, err := s.Timelines.FactHistory(ctx, line, page.before, page.limit)
	if err != nil {
		return err
	}
	return answerFacts(r, page, found, func(f memory.Fact) time.Time { return f.RecordedAt })
}

// answerFacts tells a page of a list that is ordered by a time of the facts.
func answerFacts(r *request, page page, found []memory.Fact, at func(memory.Fact) time.Time) error {
	answer := struct {
		Facts []factBody `json:"facts"`
		Next  string     `json:"next_cursor,omitempty"`
	}{Facts: []factBody{}}
	for _, f := range found {
		answer.Facts = append(answer.Facts, factOf(f))
	}
	answer.Next = page.next(len(found), func() db.Position {
		last := found[len(found)-1]
		return db.Position{At: at(last), ID: last.ID}
	})
	return r.JSON(http.StatusOK, answer)
}

// timeline reads the query parameters that name one.
func (c *checks) timeline(r *request) db.Timeline {
	return db.Timeline{Owner: c.owner("query.user_id", r.key, r.query.Get("user_id")), Type: c.name(r, "type"), Key: c.name(r, "key")}
}

// name reads a type or key from the query, in the form in which it is kept; ""
// where it is left out.
func (c *checks) name(r *request, parameter string) string {
	text := r.query.Get(parameter)
	if text != "" {
		c.note("query."+parameter, facts.CheckName(text))
	}
	return facts.CanonicalName(text)
}
