package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
)

// memoryBody is a memory as clients see it.
type memoryBody struct {
	ID             string          `json:"id"`
	UserID         string          `json:"user_id"`
	AgentID        string          `json:"agent_id,omitempty"`
	ConversationID string          `json:"conversation_id,omitempty"`
	SourceTurnID   string          `json:"source_turn_id,omitempty"`
	Content        string          `json:"content"`
	Type           memory.Type     `json:"type"`
	Domain         memory.Domain   `json:"domain"`
	Tags           []string        `json:"tags"`
	Importance     float64         `json:"importance"`
	Metadata       json.RawMessage `json:"metadata,omitempty"`
	Pinned         bool            `json:"pinned"`
	Status         memory.Status   `json:"status"`
	SupersededBy   string          `json:"superseded_by,omitempty"`
	CreatedAt      time.Time       `json:"created_at"`
	UpdatedAt      time.Time       `json:"updated_at"`
	LastAccessedAt time.Time       `json:"last_accessed_at"`
	AccessCount    int             `json:"access_count"`
}

func memoryOf(m memory.Memory) memoryBody {
	return memoryBody{
		ID: m.ID, UserID: m.UserID, AgentID: m.AgentID, ConversationID: m.ConversationID, SourceTurnID: m.SourceTurnID,
		Content: m.Content, Type: m.Type, Domain: m.Domain, Tags: atLeastEmpty(m.Tags),
		Importance: m.Importance, Metadata: m.Metadata, Pinned: m.Pinned, Status: m.Status, SupersededBy: m.SupersededBy,
		CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, LastAccessedAt: m.LastAccessedAt, AccessCount: m.AccessCount,
	}
}

// answerMemory tells a memory, or why there is none.
func answerMemory(r *request, m memory.Memory, err error) error {
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, memoryOf(m))
}

func (s *Server) getMemory(ctx context.Context, r *request) error {
	id, err := memoryID(r)
	if err != nil {
		return err
	}
	var c checks
	at := c.time("query.as_of", r.query.Get("as_of"))
	if err := c.err(); err != nil {
		return err
	}
	m, err := s.Memories.Memory(ctx, r.key.AppID, id)
	if err == nil && !at.IsZero() {
		m, err = s.past(ctx, m, at)
	}
	return answerMemory(r, m, err)
}

// past is a memory as it was at an instant.
func (s *Server) past(ctx context.Context, m memory.Memory, at time.Time) (memory.Memory, error) {
	events, err := s.Memories.Events(ctx, m.Owner, []string{m.ID})
	if err != nil {
		return memory.Memory{}, err
	}
	then, there := history.At(m, events[m.ID], at)
	if !there {
		return memory.Memory{}, memory.Errorf(memory.KindNotFound, "there was no memory with this id at %s", at.Format(time.RFC3339Nano))
	}
	return then, nil
}

func (s *Server) deleteMemory(ctx context.Context, r *request) error {
	id, err := memoryID(r)
	if err != nil {
		return err
	}
	m, err := s.Ingest.Forget(ctx, r.key.AppID, id)
	return answerMemory(r, m, err)
}

func (s *Server) restoreMemory(ctx context.Context, r *request) error {
	id, err := memoryID(r)
	if err != nil {
		return err
	}
	m, err := s.Ingest.Restore(ctx, r.key.AppID, id)
	return answerMemory(r, m, err)
}

type changeRequest struct {
	Content    *string          `json:"content"`
	Importance *float64         `json:"importance"`
	Domain     *memory.Domain   `json:"domain"`
	Type       *memory.Type     `json:"type"`
	Tags       *[]string        `json:"tags"`
	Metadata   *json.RawMessage `json:"metadata"`
	Pinned     *bool            `json:"pinned"`
}

func (s *Server) patchMemory(ctx context.Context, r *request) error {
	id, err := memoryID(r)
	if err != nil {
		return err
	}
	body, err := decode[changeRequest](r)
	if err != nil {
		return err
	}
	var c checks
	if body.Content != nil {
		c.note("content", memory.CheckContent(*body.Content, memory.MaxContentRunes))
	}
	if body.Tags != nil {
		c.note("tags", memory.CheckTags(*body.Tags))
	}
	if body.Metadata != nil {
		*body.Metadata = c.metadata("metadata", *body.Metadata)
	}
	if err := c.err(); err != nil {
		return err
	}
	m, err := s.Ingest.Change(ctx, r.key.AppID, id, ingest.Change(body))
	return answerMemory(r, m, err)
}

func (s *Server) listMemories(ctx context.Context, r *request) error {
	var c checks
	page := c.page(r)
	filter := db.MemoryFilter{
		Owner:          c.owner("query.user_id", r.key, r.query.Get("user_id")),
		Types:          namesOf[memory.Type](r.query["type"]),
		Domains:        namesOf[memory.Domain](r.query["domain"]),
		Statuses:       namesOf[memory.Status](r.query["status"]),
		Tags:           r.query["tag"],
		ConversationID: r.query.Get("conversation_id"), AgentID: r.query.Get("agent_id"),
		AsOf: c.time("query.as_of", r.query.Get("as_of")), Before: page.before, Limit: page.limit,
	}
	if len(filter.Statuses) == 0 {
		filter.Statuses = []memory.Status{memory.Active}
	}
	filter.Since, filter.Until = c.window("query.", r.query.Get("since"), r.query.Get("until"))
	c.places("query.", filter.AgentID, filter.ConversationID)
	c.note("query.tag", memory.CheckTags(filter.Tags))
	if err := c.err(); err != nil {
		return err
	}
	list := s.Memories.ListMemories
	if !filter.AsOf.IsZero() {
		list = func(ctx context.Context, f db.MemoryFilter) ([]memory.Memory, error) {
			return history.List(ctx, s.Memories, f)
		}
	}
	memories, err := list(ctx, filter)
	if err != nil {
		return err
	}
	answer := struct {
		Memories []memoryBody `json:"memories"`
		Next     string       `json:"next_cursor,omitempty"`
	}{Memories: []memoryBody{}}
	for _, m := range memories {
		answer.Memories = append(answer.Memories, memoryOf(m))
	}
	answer.Next = page.next(len(memories), func() db.Position {
		last := memories[len(memories)-1]
		return db.Position{At: last.CreatedAt, ID: last.ID}
	})
	return r.JSON(http.StatusOK, answer)
}

// namesOf gives the values of a query parameter their type; openapi.yaml has
// held them to the known ones.
func namesOf[T ~string](values []string) []T {
	var names []T
	for _, value := range values {
		names = append(names, T(value))
	}
	return names
}

type eventBody struct {
	ID       string           `json:"id"`
	MemoryID string           `json:"memory_id"`
	Kind     memory.EventKind `json:"kind"`
	Cause    string           `json:"cause"`
	Detail   json.RawMessage  `json:"detail,omitempty"`
	At       time.Time        `json:"at"`
}

func (s *Server) getHistory(ctx context.Context, r *request) error {
	id, err := memoryID(r)
	if err != nil {
		return err
	}
	events, err := s.Memories.History(ctx, r.key.AppID, id)
	if err != nil {
		return err
	}
	answer := struct {
		Events []eventBody `json:"events"`
	}{Events: []eventBody{}}
	for _, e := range events {
		answer.Events = append(answer.Events, eventBody(e))
	}
	return r.JSON(http.StatusOK, answer)
}
