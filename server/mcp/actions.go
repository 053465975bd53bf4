package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"time"

	"hippocampus/db/zones"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// connection states where a call comes from; the call's context holds the key.
type connection struct {
	v1     http.Handler
	zoneOf zones.Finder
	user   string // empty: the tools have it as an argument
}

// contextTokens is the length of a context if the call states no length.
const contextTokens = 1000

// found is the structured result of a search or a list.
type found struct {
	Scope    scope        `json:"scope"`
	Memories []memoryBody `json:"memories"`
	Next     string       `json:"next_cursor,omitempty"`

	// Degraded lists the parts of the server that a search did without.
	Degraded []string `json:"degraded,omitempty"`
}

// changed is the structured result of a change.
type changed struct {
	Scope   scope          `json:"scope"`
	Memory  memoryBody     `json:"memory"`
	Verdict memory.Verdict `json:"verdict,omitempty"`
	Reason  string         `json:"reason,omitempty"`
	Effects []effect       `json:"effects,omitempty"` // on other memories
	Secrets []secret       `json:"secrets,omitempty"` // that were cut out of the arguments

	Cleaned []frame.CleanedText `json:"cleaned,omitempty"` // arguments
}

// owned returns the arguments with the user of the connection.
func (c connection) owned(args arguments) arguments {
	body := maps.Clone(args)
	if c.user != "" {
		body["user_id"], _ = json.Marshal(c.user) // a string
	}
	return body
}

// zone returns the zone of the days of a scope's user; UTC if it cannot be read, so that the tool still answers.
func (c connection) zone(ctx context.Context, s scope) *time.Location {
	zone, err := c.zoneOf.Of(ctx, memory.Owner{AppID: s.AppID, UserID: s.UserID})
	if err != nil {
		return time.UTC
	}
	return zone
}

// scopeOf returns the scope of arguments that name it.
func scopeOf(ctx context.Context, args arguments) scope {
	key, _ := frame.KeyOf(ctx)
	return scope{
		AppID: key.AppID, UserID: args.text("user_id"), AgentID: args.text("agent_id"),
		ConversationID: args.text("conversation_id"),
	}
}

func (c connection) search(ctx context.Context, args arguments) (string, any, error) {
	args = c.owned(args)
	read := found{Scope: scopeOf(ctx, args)}
	answer, err := ask[found](ctx, c.v1, http.MethodPost, "/v1/recall", args)
	if err != nil {
		return "", nil, err
	}
	read.Memories, read.Degraded = answer.Memories, answer.Degraded
	text := read.Scope.line() + degradedLines(read.Degraded)
	if len(read.Memories) > 0 {
		return text + linesOf(read.Memories, "best first", c.zone(ctx, read.Scope)), read, nil
	}
	hint, err := c.emptyHint(ctx, read.Scope)
	return text + "Nothing that matches is remembered in this scope. " + hint, read, err
}

// emptyHint explains why a search found nothing, so that the model does not take a wrong scope for a lack of memories.
func (c connection) emptyHint(ctx context.Context, s scope) (string, error) {
	all, err := ask[found](ctx, c.v1, http.MethodGet, "/v1/memories?"+
		url.Values{"user_id": {s.UserID}, "limit": {"1"}}.Encode(), nil)
	switch {
	case err != nil:
		return "", err
	case len(all.Memories) == 0:
		return "This user has no memories at all: check that the user is the right one.", nil
	case s.AgentID != "" || s.ConversationID != "":
		return "The user has memories outside of this agent or conversation: " +
			"search without agent_id and conversation_id.", nil
	}
	return "The user has other memories: try other words, or list_memories.", nil
}

func (c connection) context(ctx context.Context, args arguments) (string, any, error) {
	args = c.owned(args)
	if args["max_tokens"] == nil {
		args["max_tokens"] = json.RawMessage(fmt.Sprint(contextTokens))
	}
	type contextAnswer struct {
		Scope    scope        `json:"scope"`
		Text     string       `json:"text"`
		Memories []memoryBody `json:"memories"`
		LeftOut  []omission   `json:"left_out"`
		Degraded []string     `json:"degraded,omitempty"`

		Episode   json.RawMessage `json:"episode,omitempty"`
		NoEpisode string          `json:"no_episode,omitempty"`
	}
	answer, err := ask[contextAnswer](ctx, c.v1, http.MethodPost, "/v1/context", args)
	if err != nil {
		return "", nil, err
	}
	answer.Scope = scopeOf(ctx, args)
	text := answer.Scope.line() + degradedLines(answer.Degraded) + roomLine(answer.LeftOut)
	if answer.Text == "" && len(answer.LeftOut) == 0 {
		hint, err := c.emptyHint(ctx, answer.Scope)
		return text + "Nothing is known that matters for this query. " + hint, answer, err
	}
	return text + answer.Text, answer, nil
}

func (c connection) list(ctx context.Context, args arguments) (string, any, error) {
	args = c.owned(args)
	query := url.Values{}
	for name, raw := range args {
		values, err := valuesOf(raw)
		if err != nil {
			return "", nil, fmt.Errorf("%s %w", name, err)
		}
		query[cmp.Or(parameters[name], name)] = values
	}
	answer, err := ask[found](ctx, c.v1, http.MethodGet, "/v1/memories?"+query.Encode(), nil)
	if err != nil {
		return "", nil, err
	}
	answer.Scope = scopeOf(ctx, args)
	text := answer.Scope.line()
	if len(answer.Memories) == 0 {
		return text + "There is no such memory in this scope.", answer, nil
	}
	text += linesOf(answer.Memories, "newest first", c.zone(ctx, answer.Scope))
	if answer.Next != "" {
		text += "\nThere are more: call list_memories with cursor " + answer.Next
	}
	return text, answer, nil
}

// valuesOf returns the values of a query parameter from those of an argument.
func valuesOf(raw json.RawMessage) ([]string, error) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		items = []json.RawMessage{raw}
	}
	values := make([]string, len(items))
	for i, item := range items {
		if len(item) > 0 && item[0] == '{' || len(item) > 0 && item[0] == '[' {
			return nil, errors.New("is not a text, a number or a list of texts")
		}
		if json.Unmarshal(item, &values[i]) != nil {
			values[i] = string(item) // a number or a boolean
		}
	}
	return values, nil
}
