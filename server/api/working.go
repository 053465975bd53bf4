package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"hippocampus/conversation/session"
	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Sessions is the working memory; package session implements it.
type Sessions interface {
	Working(ctx context.Context, appID, userID, id string, f session.Filter) (session.Working, error)
	Delete(ctx context.Context, owner memory.Owner, id string) (db.DeletedConversation, error)
}

// eventOfTalk is an event of a conversation as clients see it.
type eventOfTalk struct {
	Number     int64                 `json:"number"`
	TurnID     string                `json:"turn_id"`
	Role       string                `json:"role"`
	Name       string                `json:"name,omitempty"`
	Content    string                `json:"content"`
	Kind       memory.MessageKind    `json:"kind"`
	Tags       []string              `json:"tags"`
	Context    memory.MessageContext `json:"context"`
	Importance float64               `json:"importance"`
	Tokens     int                   `json:"tokens"`
	At         time.Time             `json:"at"`
}

type workingBody struct {
	Conversation conversationBody `json:"conversation"`
	Events       []eventOfTalk    `json:"events"`
	Held         int              `json:"held"`
	Tokens       int              `json:"tokens"`
	Fill         float64          `json:"fill"`
}

func (s *Server) getWorking(ctx context.Context, r *request) error {
	var c checks
	filter := session.Filter{
		Kinds: namesOf[memory.MessageKind](r.query["kind"]), Tags: r.query["tag"], MinImportance: c.importance(r),
		Since: c.time("query.since", r.query.Get("since")), Limit: int(c.number(r, "limit", "is not written as a plain integer")),
	}
	for i, tag := range filter.Tags {
		c.note(fmt.Sprintf("query.tag[%d]", i), memory.CheckContent(tag, memory.MaxTagRunes))
	}
	userID, id := c.conversationID(r)
	if err := c.err(); err != nil {
		return err
	}
	w, err := s.Sessions.Working(ctx, r.key.AppID, userID, id, filter)
	if err != nil {
		return err
	}
	answer := workingBody{conversationOf(w.Conversation), []eventOfTalk{}, w.Held, w.Tokens, w.Fill}
	for _, e := range w.Events {
		answer.Events = append(answer.Events, eventOfTalk{
			e.Number, e.TurnID, e.Role, e.Name, e.Content, e.Kind, atLeastEmpty(e.Tags), e.Context, e.Importance, e.Tokens, e.At,
		})
	}
	return r.JSON(http.StatusOK, answer)
}
