package mem0

import (
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"hippocampus/internal/memory"
)

// event is an addition with its outcomes, in mem0's form. Its id is that of the turn.
type event struct {
	ID        string     `json:"id"`
	Type      string     `json:"event_type"`
	Status    string     `json:"status"`
	Payload   any        `json:"payload"`
	Results   []outcome  `json:"results"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
	StartedAt *time.Time `json:"started_at"` // always null: a turn does not state it
	Completed *time.Time `json:"completed_at"`
	Latency   *float64   `json:"latency"` // ms from created_at to completed_at
	Error     *string    `json:"error"`

	LeftOut []memory.Omission `json:"left_out,omitempty"` // mem0 has no such field
}

func (t turn) event() event {
	e := event{
		ID: t.ID, Type: "ADD", Results: t.outcomes(), CreatedAt: t.AcceptedAt, UpdatedAt: t.AcceptedAt,
		Payload: map[string]any{"user_id": t.UserID, "metadata": t.Metadata}, Error: optional(t.LastError),
		LeftOut: t.LeftOut,
	}
	switch {
	case t.Status == memory.TurnProcessed, t.Status == memory.TurnWithdrawn:
		e.Status = succeeded
	case t.Status == memory.TurnFailed:
		e.Status = "FAILED"
	case t.Attempts > 0:
		e.Status = "RUNNING"
	default:
		e.Status = pending
	}
	if !t.Processed.IsZero() {
		latency := float64(t.Processed.Sub(t.AcceptedAt).Microseconds()) / 1000
		e.UpdatedAt, e.Completed = t.Processed, &t.Processed
		e.Latency = &latency
	}
	return e
}

func oneEvent(c *call) (any, error) {
	var t turn
	if err := c.ask(http.MethodGet, "/v1/turns/"+url.PathEscape(c.ids[0]), nil, &t); err != nil {
		return nil, err
	}
	return t.event(), nil
}

// events lists the turns of the app, newest first and without their outcomes. The next page is found by a cursor.
func events(c *call) (any, error) {
	f := c.withQuery()
	length, err := f.whole("page_size", defaultPageSize, 1, readAtOnce)
	if err != nil {
		return nil, err
	}
	if f["page"] != nil && string(f["page"]) != `"1"` {
		return nil, invalid("page", "cannot be honoured here: the next page is the path in next")
	}
	query := url.Values{"limit": {strconv.Itoa(length)}}
	if c.user != "" {
		query.Set("user_id", c.user)
	}
	for _, name := range []string{"user_id", "cursor"} {
		if c.query.Has(name) {
			query.Set(name, c.query.Get(name))
		}
	}
	var answer struct {
		Turns []turn `json:"turns"`
		Next  string `json:"next_cursor"`
	}
	if err := c.ask(http.MethodGet, "/v1/turns?"+query.Encode(), nil, &answer); err != nil {
		return nil, err
	}
	list := make([]event, len(answer.Turns))
	for i, t := range answer.Turns {
		list[i] = t.event()
	}
	var next *string
	if answer.Next != "" {
		again := maps.Clone(c.query)
		again.Set("cursor", answer.Next)
		link := c.path + "/?" + again.Encode()
		next = &link
	}
	return page{Count: len(list), Next: next, Results: list}, nil
}
