package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/server/frame"
)

func (c connection) add(ctx context.Context, args arguments) (string, any, error) {
	args = c.owned(args)
	args["dedup"] = json.RawMessage("true")
	answer, err := ask[struct {
		memoryBody
		Verdict memory.Verdict      `json:"verdict"`
		Reason  string              `json:"reason"`
		Secrets []secret            `json:"secrets"`
		Cleaned []frame.CleanedText `json:"cleaned"`
	}](ctx, c.v1, http.MethodPost, "/v1/memories", args)
	if err != nil {
		return "", nil, err
	}
	result := changed{
		Scope: c.scopeOf(ctx, answer.memoryBody), Memory: answer.memoryBody, Verdict: answer.Verdict, Reason: answer.Reason,
		Secrets: answer.Secrets, Cleaned: cleanedIn(ctx, answer.Cleaned),
	}
	done := "Remembered: "
	if answer.Verdict != memory.Kept {
		done = fmt.Sprintf("A memory holds this (%s): ", answer.Verdict)
	}
	return c.changeText(ctx, result, done), result, nil
}

func (c connection) update(ctx context.Context, args arguments) (string, any, error) {
	change := maps.Clone(args)
	delete(change, "memory_id")
	return c.change(ctx, args, http.MethodPatch, "", change, "Changed: ")
}

func (c connection) forget(ctx context.Context, args arguments) (string, any, error) {
	return c.change(ctx, args, http.MethodDelete, "", nil, "Forgotten; restore_memory brings it back: ")
}

func (c connection) restore(ctx context.Context, args arguments) (string, any, error) {
	return c.change(ctx, args, http.MethodPost, "/restore", nil, "Restored: ")
}

// change changes the memory that the arguments name.
func (c connection) change(
	ctx context.Context, args arguments, method, suffix string, body any, done string,
) (string, any, error) {
	path, _, err := c.memory(ctx, args)
	if err != nil {
		return "", nil, err
	}
	answer, err := ask[struct {
		memoryBody
		Effects []effect            `json:"effects"`
		Secrets []secret            `json:"secrets"`
		Cleaned []frame.CleanedText `json:"cleaned"`
	}](ctx, c.v1, method, path+suffix, body)
	if err != nil {
		return "", nil, err
	}
	result := changed{
		Scope: c.scopeOf(ctx, answer.memoryBody), Memory: answer.memoryBody, Effects: answer.Effects, Secrets: answer.Secrets,
		Cleaned: cleanedIn(ctx, answer.Cleaned),
	}
	return c.changeText(ctx, result, done), result, nil
}

// changeText describes a change for a model; done states what was done.
func (c connection) changeText(ctx context.Context, result changed, done string) string {
	return result.Scope.line() + done + result.Memory.line(c.zone(ctx, result.Scope)) + effectLines(result.Effects) +
		secretLines(result.Secrets) + cleanedLines(result.Cleaned)
}

func (c connection) history(ctx context.Context, args arguments) (string, any, error) {
	path, m, err := c.memory(ctx, args)
	if err != nil {
		return "", nil, err
	}
	type historyAnswer struct {
		Scope  scope        `json:"scope"`
		Memory memoryBody   `json:"memory"`
		Events []wire.Event `json:"events"`
	}
	answer, err := ask[historyAnswer](ctx, c.v1, http.MethodGet, path+"/history", nil)
	if err != nil {
		return "", nil, err
	}
	answer.Scope, answer.Memory = c.scopeOf(ctx, m), m
	zone := c.zone(ctx, answer.Scope)
	var text strings.Builder
	text.WriteString(answer.Scope.line() + "The memory now: " + m.line(zone) + "\nWhat happened to it, oldest first:")
	for _, e := range answer.Events {
		fmt.Fprintf(&text, "\n- %s %s (%s)", e.At.In(zone).Format(time.RFC3339), e.Kind, e.Cause)
		if len(e.Detail) > 0 {
			text.WriteString(" " + string(e.Detail))
		}
	}
	return text.String(), answer, nil
}

// memory returns the memory that the arguments name, and its path.
func (c connection) memory(ctx context.Context, args arguments) (path string, m memoryBody, err error) {
	id := args.text("memory_id")
	if !memory.IsID(id) {
		return "", m, errors.New("memory_id is missing or is not the id of a memory, such as " +
			"0198c0de-0000-7000-8000-000000000003: search_memories and list_memories show ids")
	}
	path = "/v1/memories/" + id
	m, err = ask[memoryBody](ctx, c.v1, http.MethodGet, path, nil)
	if isNotFound(err) {
		return "", memoryBody{}, errors.New("there is no memory with this id here: " +
			"search_memories and list_memories show ids")
	}
	return path, m, err
}

// scopeOf returns the scope of a memory.
func (c connection) scopeOf(ctx context.Context, m memoryBody) scope {
	key, _ := frame.KeyOf(ctx)
	return scope{AppID: key.AppID, UserID: m.UserID, AgentID: m.AgentID, ConversationID: m.ConversationID}
}
