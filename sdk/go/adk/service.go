// Package adk is a memory service for agents of Google's Agent Development Kit
// (google.golang.org/adk), which keeps their sessions in Hippocampus.
package adk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"google.golang.org/adk/v2/memory"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	hippocampus "hippocampus/sdk/go"
)

// Service implements memory.Service. A session is a conversation of its user,
// and each of its events with a text is a turn. The app's name is the agent's id:
// apps do not see each other's memories, but all see those of the user that have
// no agent. The adapter of sdk/python keeps sessions in the same way.
type Service struct {
	Client *hippocampus.Client
	// Recall has the options of a search other than its user, agent and query, such as Limit
	// or MinConfidence.
	Recall hippocampus.RecallRequest
}

var _ memory.Service = (*Service)(nil)

const (
	userAuthor     = "user"
	maxQueryLength = 65536 // characters, by openapi.yaml
)

// AddSessionToMemory reports the events of a session. They are on the server's disk when it
// returns, and become memories afterwards. A session that has grown may be added again: an
// event that the server has is not added twice. Events that the server refuses as invalid,
// or because it has another text for them, are left out and named by the error.
func (s *Service) AddSessionToMemory(ctx context.Context, from session.Session) error {
	var refused []error
	for event := range from.Events().All() {
		text := textOf(event)
		if text == "" {
			continue
		}
		_, err := s.Client.AddTurn(ctx, hippocampus.TurnRequest{
			ID:     new("adk:" + from.ID() + ":" + event.ID),
			UserID: from.UserID(), AgentID: new(from.AppName()), ConversationID: new(from.ID()),
			At: &event.Timestamp, Messages: []hippocampus.Message{message(event.Author, text)},
		})
		switch {
		case errors.Is(err, hippocampus.KindInvalid), errors.Is(err, hippocampus.KindConflict):
			refused = append(refused, fmt.Errorf("event %s: %w", event.ID, err))
		case err != nil:
			return err
		}
	}
	return errors.Join(refused...)
}

// textOf returns the text of an event. It is empty for a part of a stream, since a later
// event has the whole text, and for an event that has only calls of functions.
func textOf(event *session.Event) string {
	if event.Partial || event.Content == nil {
		return ""
	}
	var texts []string
	for _, part := range event.Content.Parts {
		if part != nil && !part.Thought && strings.TrimSpace(part.Text) != "" {
			texts = append(texts, part.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func message(author, text string) hippocampus.Message {
	if author == userAuthor {
		return hippocampus.UserMessage(text)
	}
	said := hippocampus.AssistantMessage(text)
	said.Name = &author
	return said
}

// SearchMemory recalls the memories that fit the query, the best first. The author of a
// message is who said it; a fact has no author.
func (s *Service) SearchMemory(ctx context.Context, req *memory.SearchRequest) (*memory.SearchResponse, error) {
	found := &memory.SearchResponse{Memories: []memory.Entry{}}
	if strings.TrimSpace(req.Query) == "" {
		return found, nil
	}
	request := s.Recall
	request.UserID, request.AgentID, request.Query = req.UserID, &req.AppName, cut(req.Query)
	answer, err := s.Client.Recall(ctx, request)
	if err != nil {
		return nil, err
	}
	for _, recalled := range answer.Memories {
		found.Memories = append(found.Memories, entry(recalled))
	}
	return found, nil
}

func cut(query string) string {
	runes := []rune(query)
	return string(runes[:min(len(runes), maxQueryLength)])
}

// entry returns a memory as ADK shows it to the model.
func entry(m hippocampus.RecalledMemory) memory.Entry {
	e := memory.Entry{
		ID: m.ID, Content: genai.NewContentFromText(m.Content, genai.RoleUser), CustomMetadata: map[string]any{},
	}
	if m.Metadata != nil {
		maps.Copy(e.CustomMetadata, *m.Metadata)
	}
	maps.Copy(e.CustomMetadata, map[string]any{
		"importance": m.Importance, "score": m.Score, "relevance": m.Relevance, "confidence": m.Confidence,
	})
	if m.Type != nil {
		e.CustomMetadata["type"] = string(*m.Type)
	}
	if m.Domain != nil {
		e.CustomMetadata["domain"] = string(*m.Domain)
	}
	if m.CreatedAt != nil {
		e.Timestamp = *m.CreatedAt
	}
	if m.SaidBy != nil {
		e.Author = *m.SaidBy
	}
	return e
}
