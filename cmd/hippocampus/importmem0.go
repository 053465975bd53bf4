package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/remote"
	"hippocampus/internal/memory"
)

// mem0Batch is how many memories are sent at once; the server accepts 1000 and bodies of 16 MiB.
const mem0Batch = 200

// mem0Memory is a memory of an export of mem0.
type mem0Memory struct {
	ID         string          `json:"id"`
	Memory     string          `json:"memory"`
	UserID     string          `json:"user_id"`
	AgentID    string          `json:"agent_id"`
	RunID      string          `json:"run_id"`
	Metadata   json.RawMessage `json:"metadata"`
	Categories []string        `json:"categories"`
	CreatedAt  string          `json:"created_at"`
}

// readMem0 reads a list of memories, which may be the results of mem0's get_all.
func readMem0(from io.Reader) ([]mem0Memory, error) {
	raw, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	var whole struct {
		Results  json.RawMessage `json:"results"`
		Memories json.RawMessage `json:"memories"`
	}
	if raw = bytes.TrimSpace(raw); bytes.HasPrefix(raw, []byte("{")) {
		if err := json.Unmarshal(raw, &whole); err != nil {
			return nil, fmt.Errorf("the file is not JSON: %w", err)
		}
		if raw = whole.Results; raw == nil {
			raw = whole.Memories
		}
	}
	var memories []mem0Memory
	if err := json.Unmarshal(raw, &memories); err != nil {
		return nil, fmt.Errorf("the file is not a JSON list of memories of mem0: %w", err)
	}
	return memories, nil
}

// request is the memory in the form of the API.
func (m mem0Memory) request() map[string]any {
	body := map[string]any{"user_id": m.UserID, "content": m.Memory, "dedup": true}
	for name, value := range map[string]string{
		"agent_id": m.AgentID, "conversation_id": m.RunID, "at": mem0Time(m.CreatedAt),
	} {
		if value != "" {
			body[name] = value
		}
	}
	if len(m.Metadata) > 0 && string(m.Metadata) != "null" {
		body["metadata"] = m.Metadata
	}
	if len(m.Categories) > 0 {
		body["tags"] = m.Categories
	}
	return body
}

// mem0Time is a time of mem0 in RFC 3339: without an offset it is in UTC.
func mem0Time(text string) string {
	if t, err := time.Parse("2006-01-02T15:04:05", text); err == nil {
		return t.Format(time.RFC3339Nano)
	}
	return text
}

// importMem0 writes the memories of an export of mem0.
func importMem0(cmd *cobra.Command, to remote.Server, from io.Reader) error {
	memories, err := readMem0(from)
	if err != nil {
		return err
	}
	counts, failed := map[memory.Verdict]int{}, 0
	first := 0
	for some := range slices.Chunk(memories, mem0Batch) {
		results, err := writeBatch(cmd.Context(), to, some)
		if err != nil {
			return fmt.Errorf("%w (%d of %d memories were sent; it is safe to repeat the command)", err, first, len(memories))
		}
		for i, result := range results {
			if result.Error == nil {
				counts[result.Verdict]++
				continue
			}
			failed++
			fmt.Fprintf(cmd.ErrOrStderr(), "memory %d (%s): %s\n", first+i+1, some[i].ID, result.Error.text())
		}
		first += len(some)
	}
	held := counts[memory.Duplicate] + counts[memory.Merged]
	fmt.Fprintf(cmd.OutOrStdout(), "imported %d memories, %d that others hold already\n", counts[memory.Kept], held)
	if failed > 0 {
		return fmt.Errorf("%d of %d memories failed", failed, len(memories))
	}
	return nil
}

// batchResult is the result of one memory.
type batchResult struct {
	Verdict memory.Verdict `json:"verdict"`
	Error   *batchError    `json:"error"`
}

type batchError struct {
	Detail string         `json:"detail"`
	Errors []memory.Field `json:"errors"`
}

func (e *batchError) text() string {
	text := e.Detail
	for _, fault := range e.Errors {
		text += "; " + fault.Path + " " + fault.Message
	}
	return text
}

// writeBatch writes memories and returns a result for each.
func writeBatch(ctx context.Context, to remote.Server, memories []mem0Memory) ([]batchResult, error) {
	requests := make([]map[string]any, len(memories))
	for i, m := range memories {
		requests[i] = m.request()
	}
	raw, err := to.Call(ctx, "POST", "/v1/memories/batch", map[string]any{"memories": requests})
	if err != nil {
		return nil, err
	}
	var answer struct {
		Results []batchResult `json:"results"`
	}
	err = json.Unmarshal(raw, &answer)
	if err == nil && len(answer.Results) != len(memories) {
		err = errors.New("it lacks results")
	}
	if err != nil {
		return nil, fmt.Errorf("the response broke off: %w", err)
	}
	return answer.Results, nil
}
