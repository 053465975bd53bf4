package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// ConversationKeeper reads conversations and their turns; db.Conversations has it.
type ConversationKeeper interface {
	Conversation(ctx context.Context, appID, userID, id string) (memory.Conversation, error)
	ListConversations(ctx context.Context, f db.ConversationFilter) ([]memory.Conversation, error)
	ConversationTurns(ctx context.Context, owner memory.Owner, id string, after int64, limit int) ([]memory.Turn, error)
	SetTitle(ctx context.Context, owner memory.Owner, id, title string) (memory.Conversation, error)
}

// conversationBody is a conversation as clients see it.
type conversationBody struct {
	ID        string               `json:"id"`
	UserID    string               `json:"user_id"`
	Title     string               `json:"title"`
	State     db.ConversationState `json:"state"`
	Turns     int64                `json:"turns"`
	Events    int64                `json:"events"`
	Tokens    int64                `json:"tokens"`
	Summary   string               `json:"summary,omitempty"`
	Through   int64                `json:"summarised_through,omitempty"`
	Kept      int64                `json:"consolidated_through,omitempty"`
	StartedAt time.Time            `json:"started_at"`
	LastAt    time.Time            `json:"last_at"`
	EndedAt   time.Time            `json:"ended_at,omitzero"`
	EndReason string               `json:"end_reason,omitempty"`
}

func conversationOf(c memory.Conversation) conversationBody {
	state := db.ConversationOpen
	if !c.EndedAt.IsZero() {
		state = db.ConversationEnded
	}
	return conversationBody{
		ID: c.ID, UserID: c.UserID, Title: c.Title, State: state, Turns: c.Turns, Events: c.Events, Tokens: c.Tokens,
		Summary: c.Summary, Through: c.SummarisedThrough, Kept: c.ConsolidatedThrough,
		StartedAt: c.StartedAt, LastAt: c.LastAt, EndedAt: c.EndedAt, EndReason: c.EndReason,
	}
}

func (s *Server) listConversations(ctx context.Context, r *request) error {
	var c checks
	page := c.pageOf(r, func(id string) bool { return memory.CheckID(id, false) == "" })
	filter := db.ConversationFilter{
		Owner: c.owner("query.user_id", r.key, r.query.Get("user_id")),
		State: db.ConversationState(r.query.Get("state")), Before: page.before, Limit: page.limit,
	}
	if err := c.err(); err != nil {
		return err
	}
	found, err := s.Conversations.ListConversations(ctx, filter)
	if err != nil {
		return err
	}
	answer := struct {
		Conversations []conversationBody `json:"conversations"`
		Next          string             `json:"next_cursor,omitempty"`
	}{Conversations: []conversationBody{}}
	for _, one := range found {
		answer.Conversations = append(answer.Conversations, conversationOf(one))
	}
	answer.Next = page.next(len(found), func() db.Position {
		last := found[len(found)-1]
		return db.Position{At: last.LastAt, ID: last.ID}
	})
	return r.JSON(http.StatusOK, answer)
}

// conversationID reads whose conversation a path names; an empty user is its only one.
func (c *checks) conversationID(r *request) (userID, id string) {
	userID, id = r.query.Get("user_id"), r.param("id")
	c.note("query.user_id", memory.CheckID(userID, true))
	c.note("path.id", memory.CheckID(id, false))
	return userID, id
}

// conversation finds the one that the path names, once nothing else is wrong
// with the request.
func (s *Server) conversation(ctx context.Context, r *request, c *checks) (memory.Conversation, error) {
	userID, id := c.conversationID(r)
	if err := c.err(); err != nil {
		return memory.Conversation{}, err
	}
	return s.Conversations.Conversation(ctx, r.key.AppID, userID, id)
}

func (s *Server) getConversation(ctx context.Context, r *request) error {
	var c checks
	limit, after := c.limit(r), c.number(r, "cursor", notACursor)
	found, err := s.conversation(ctx, r, &c)
	if err != nil {
		return err
	}
	turns, err := s.Conversations.ConversationTurns(ctx, found.Owner, found.ID, after, limit)
	if err != nil {
		return err
	}
	answer := struct {
		Conversation conversationBody `json:"conversation"`
		Turns        []turnBody       `json:"turns"`
		Next         string           `json:"next_cursor,omitempty"`
	}{conversationOf(found), []turnBody{}, ""}
	for _, t := range turns {
		body := turnOf(t)
		body.Messages = t.Messages
		answer.Turns = append(answer.Turns, body)
	}
	if len(turns) == limit {
		last := turns[len(turns)-1]
		answer.Next = strconv.FormatInt(last.FirstEvent+int64(len(last.Messages))-1, 10)
	}
	return r.JSON(http.StatusOK, answer)
}

// number reads an optional query parameter that is a whole number above 0.
func (c *checks) number(r *request, name, complaint string) int64 {
	text := r.query.Get(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		c.note("query."+name, complaint)
	}
	return n
}

func (s *Server) patchConversation(ctx context.Context, r *request) error {
	body, err := decode[struct {
		Title string `json:"title"`
	}](r)
	if err != nil {
		return err
	}
	var c checks
	c.note("title", memory.CheckTitle(body.Title))
	found, err := s.conversation(ctx, r, &c)
	if err != nil {
		return err
	}
	changed, err := s.Conversations.SetTitle(ctx, found.Owner, found.ID, body.Title)
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, conversationOf(changed))
}

type deletedConversationBody struct {
	ID         string `json:"id"`
	UserID     string `json:"user_id"`
	Turns      int    `json:"turns"`
	Candidates int    `json:"candidates"`
	Kept       string `json:"kept"`
}

// memoriesStay tells of what a deleted conversation leaves.
const memoriesStay = "the memories that were made from it: list them by conversation_id, and delete those that are to go, too"

func (s *Server) deleteConversation(ctx context.Context, r *request) error {
	var c checks
	found, err := s.conversation(ctx, r, &c)
	if err != nil {
		return err
	}
	gone, err := s.Sessions.Delete(ctx, found.Owner, found.ID)
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, deletedConversationBody{found.ID, found.UserID, gone.Turns, gone.Candidates, memoriesStay})
}
