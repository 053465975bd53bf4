package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
)

type turnRequest struct {
	ID             string           `json:"id"`
	UserID         string           `json:"user_id"`
	ConversationID string           `json:"conversation_id"`
	AgentID        string           `json:"agent_id"`
	Messages       []memory.Message `json:"messages"`
	Metadata       json.RawMessage  `json:"metadata"`
	At             string           `json:"at"`
	Wait           bool             `json:"wait"`
}

// turnBody is a turn as clients see it. Lists leave messages and candidates out.
type turnBody struct {
	ID             string            `json:"id"`
	ClientID       string            `json:"client_id,omitempty"`
	UserID         string            `json:"user_id"`
	ConversationID string            `json:"conversation_id,omitempty"`
	AgentID        string            `json:"agent_id,omitempty"`
	FirstEvent     int64             `json:"first_event,omitempty"`
	Status         memory.TurnStatus `json:"status"`
	Attempts       int               `json:"attempts"`
	LastError      string            `json:"last_error,omitempty"`
	At             time.Time         `json:"at"`
	AcceptedAt     time.Time         `json:"accepted_at"`
	ProcessedAt    time.Time         `json:"processed_at,omitzero"`
	Repeated       bool              `json:"repeated,omitempty"`
	Metadata       json.RawMessage   `json:"metadata,omitempty"`
	Messages       []memory.Message  `json:"messages,omitempty"`
	Candidates     []candidateBody   `json:"candidates,omitzero"`
}

type candidateBody struct {
	Content    string         `json:"content"`
	Importance float64        `json:"importance"`
	Domain     memory.Domain  `json:"domain,omitempty"`
	Type       memory.Type    `json:"type,omitempty"`
	Verdict    memory.Verdict `json:"verdict"`
	Reason     string         `json:"reason"`
	Scorer     string         `json:"scorer"`
	MemoryID   string         `json:"memory_id,omitempty"`
}

func turnOf(t memory.Turn) turnBody {
	return turnBody{
		ID: t.ID, ClientID: t.ClientID, UserID: t.UserID, ConversationID: t.ConversationID, AgentID: t.AgentID, FirstEvent: t.FirstEvent,
		Status: t.Status, Attempts: t.Attempts, LastError: t.LastError,
		At: t.At, AcceptedAt: t.AcceptedAt, ProcessedAt: t.ProcessedAt, Metadata: t.Metadata,
	}
}

func outcomeOf(o ingest.Outcome) turnBody {
	body := turnOf(o.Turn)
	body.Candidates = []candidateBody{}
	for _, c := range o.Candidates {
		body.Candidates = append(body.Candidates, candidateOf(c))
	}
	return body
}

func candidateOf(c memory.Candidate) candidateBody {
	return candidateBody{c.Content, c.Importance, c.Domain, c.Type, c.Verdict, c.Reason, c.Scorer, c.MemoryID}
}

func (s *Server) postTurn(ctx context.Context, r *request) error {
	body, err := decode[turnRequest](r)
	if err != nil {
		return err
	}
	turn, err := body.turn(r.key)
	if err != nil {
		return err
	}
	stored, fresh, err := s.Ingest.Accept(ctx, turn)
	if err != nil {
		return err
	}
	answer, err := s.follow(ctx, stored, body.Wait)
	if memory.IsKind(err, memory.KindNotFound) { // it was stored a moment ago
		err = memory.Errorf(memory.KindConflict, "the user was erased, and this turn too, before it was processed")
	}
	if err != nil {
		return err
	}
	answer.Repeated = !fresh
	return r.JSON(turnStatus(answer.Status), answer)
}

// turn checks the request and makes it a turn of the key's app.
func (b turnRequest) turn(key memory.Key) (memory.Turn, error) {
	var c checks
	t := memory.Turn{
		Owner: c.owner("user_id", key, b.UserID), ClientID: b.ID,
		AgentID: b.AgentID, ConversationID: b.ConversationID, Messages: b.Messages,
		Metadata: c.metadata("metadata", b.Metadata), At: c.time("at", b.At),
	}
	c.note("id", memory.CheckID(b.ID, true))
	c.places("", b.AgentID, b.ConversationID)
	for i, m := range b.Messages {
		c.note(fmt.Sprintf("messages[%d].content", i), memory.CheckMessage(m.Content))
		c.note(fmt.Sprintf("messages[%d].name", i), memory.CheckID(m.Name, true))
		c.note(fmt.Sprintf("messages[%d].tags", i), memory.CheckTags(m.Tags))
	}
	return t, c.err()
}

// follow tells how a stored turn stands; with wait it first gives the turn
// until WaitTimeout to be processed.
func (s *Server) follow(ctx context.Context, stored memory.Turn, wait bool) (turnBody, error) {
	switch {
	case stored.Status != memory.TurnAccepted:
		outcome, err := s.Ingest.Outcome(ctx, stored.AppID, stored.ID)
		return outcomeOf(outcome), err
	case !wait:
		return turnOf(stored), nil
	}
	waiting, cancel := context.WithTimeout(ctx, s.WaitTimeout)
	defer cancel()
	defer context.AfterFunc(s.draining, cancel)()
	outcome, err := s.Ingest.Await(waiting, stored.AppID, stored.ID)
	switch {
	case err != nil && waiting.Err() != nil && ctx.Err() == nil:
		return turnOf(stored), nil
	case err != nil:
		return turnBody{}, err
	case outcome.Turn.Status == memory.TurnAccepted:
		return turnOf(outcome.Turn), nil
	}
	return outcomeOf(outcome), nil
}

// turnStatus is 202 while a turn's processing lies ahead, then 200.
func turnStatus(status memory.TurnStatus) int {
	if status == memory.TurnAccepted {
		return http.StatusAccepted
	}
	return http.StatusOK
}

func (s *Server) getTurn(ctx context.Context, r *request) error {
	outcome, err := s.outcome(ctx, r)
	if err != nil {
		return err
	}
	body := outcomeOf(outcome)
	body.Messages = outcome.Turn.Messages
	return r.JSON(http.StatusOK, body)
}

// outcome finds the turn that the path names by its id or client id.
func (s *Server) outcome(ctx context.Context, r *request) (ingest.Outcome, error) {
	ref := r.param("id")
	if err := checkPathID(ref); err != nil {
		return ingest.Outcome{}, err
	}
	return s.Ingest.Outcome(ctx, r.key.AppID, ref)
}

func (s *Server) replayTurn(ctx context.Context, r *request) error {
	outcome, err := s.outcome(ctx, r)
	if err != nil {
		return err
	}
	turn, err := s.Ingest.Replay(ctx, r.key.AppID, outcome.Turn.ID)
	if err != nil {
		return err
	}
	return r.JSON(http.StatusAccepted, turnOf(turn))
}

func (s *Server) listTurns(ctx context.Context, r *request) error {
	var c checks
	page := c.page(r)
	filter := db.TurnFilter{
		AppID: r.key.AppID, UserID: r.query.Get("user_id"),
		Status: memory.TurnStatus(r.query.Get("status")), Before: page.before, Limit: page.limit,
	}
	c.note("query.user_id", memory.CheckID(filter.UserID, true))
	if err := c.err(); err != nil {
		return err
	}
	turns, err := s.Turns.ListTurns(ctx, filter)
	if err != nil {
		return err
	}
	answer := struct {
		Turns []turnBody `json:"turns"`
		Next  string     `json:"next_cursor,omitempty"`
	}{Turns: []turnBody{}}
	for _, t := range turns {
		answer.Turns = append(answer.Turns, turnOf(t))
	}
	answer.Next = page.next(len(turns), func() db.Position {
		last := turns[len(turns)-1]
		return db.Position{At: last.AcceptedAt, ID: last.ID}
	})
	return r.JSON(http.StatusOK, answer)
}
