package hippocampus

import (
	"context"
	"iter"
	"net/http"

	"hippocampus/sdk/go/api"
)

// Remember stores a memory as given, without a scorer. The request is repeated
// only with r.Dedup, which merges it into an active memory that states the same.
func (c *Client) Remember(ctx context.Context, r MemoryRequest) (*WrittenMemory, error) {
	return Decode[WrittenMemory](c.api.CreateMemory(ctx, r))
}

// RememberMany stores up to 1,000 memories, for an import. Each has a result of its own, in the order of the request;
// check the Error of each. The request is not repeated.
func (c *Client) RememberMany(ctx context.Context, memories []MemoryRequest) ([]MemoryBatchResult, error) {
	answer, err := Decode[api.MemoryBatchAnswer](c.api.CreateMemories(ctx, api.MemoryBatchRequest{Memories: memories}))
	if err != nil {
		return nil, err
	}
	return answer.Results, nil
}

// Memories lists a user's memories, the newest first; without p.Status only active ones.
func (c *Client) Memories(ctx context.Context, p ListMemoriesParams) iter.Seq2[Memory, error] {
	return Pages(p.Cursor, func(cursor *string) (*http.Response, error) {
		p := p
		p.Cursor = cursor
		return c.api.ListMemories(ctx, &p)
	}, func(page *api.MemoryPage) ([]Memory, *string) { return page.Memories, page.NextCursor })
}

// Memory returns a memory of any status, as it was at p.AsOf.
func (c *Client) Memory(ctx context.Context, id string, p GetMemoryParams) (*Memory, error) {
	return Decode[Memory](c.api.GetMemory(ctx, id, &p))
}

// Update changes the fields of a memory that the patch has. The request is not repeated.
func (c *Client) Update(ctx context.Context, id string, patch MemoryPatch) (*Memory, error) {
	return Decode[Memory](c.api.UpdateMemory(ctx, id, patch))
}

// Forget deletes a memory softly, with all that states the same: [Client.Restore] brings everything back until it is
// purged. With the scope [api.ForgettingScopeItem] it deletes the memory alone.
func (c *Client) Forget(ctx context.Context, id string, p ForgetMemoryParams) (*ChangedMemory, error) {
	return Decode[ChangedMemory](c.api.ForgetMemory(ctx, id, &p))
}

// Restore makes a forgotten memory active, and everything that was forgotten with it. The request is not repeated.
func (c *Client) Restore(ctx context.Context, id string, p RestoreMemoryParams) (*ChangedMemory, error) {
	return Decode[ChangedMemory](c.api.RestoreMemory(ctx, id, &p))
}

// Undo takes a reflection or a summary back: it is forgotten, and what was condensed into it is active again. Use it
// when a user says that the server concluded something wrong. The request is not repeated.
func (c *Client) Undo(ctx context.Context, id string) (*UndoReport, error) {
	return Decode[UndoReport](c.api.UndoMemory(ctx, id))
}

// ForgetMany forgets memories by their ids, or up to 500 memories that a user's turn, conversation or filter selects;
// repeat the request while the answer has More. With r.DryRun it changes nothing. [Client.RestoreMany] brings them
// back. The request is not repeated by itself.
func (c *Client) ForgetMany(ctx context.Context, r ForgetMemoriesRequest) (*ForgetMemoriesAnswer, error) {
	return Decode[ForgetMemoriesAnswer](c.api.ForgetMemories(ctx, r))
}

// RestoreMany makes memories active that were forgotten, superseded or consolidated, and everything that was forgotten
// with them. Each id has a result of its own. The request is not repeated.
func (c *Client) RestoreMany(ctx context.Context, r RestoreMemoriesRequest) (*RestoreMemoriesAnswer, error) {
	return Decode[RestoreMemoriesAnswer](c.api.RestoreMemories(ctx, r))
}

// Pin exempts a memory from forgetting. The request is not repeated.
func (c *Client) Pin(ctx context.Context, id string) (*Memory, error) {
	return c.Update(ctx, id, MemoryPatch{Pinned: new(true)})
}

// Unpin ends what [Client.Pin] did. The request is not repeated.
func (c *Client) Unpin(ctx context.Context, id string) (*Memory, error) {
	return c.Update(ctx, id, MemoryPatch{Pinned: new(false)})
}

// History returns what happened to a memory, the oldest first.
func (c *Client) History(ctx context.Context, id string) ([]MemoryEvent, error) {
	history, err := Decode[api.MemoryHistory](c.api.GetMemoryHistory(ctx, id))
	if err != nil {
		return nil, err
	}
	return history.Events, nil
}

// ForgetPreview lists a user's memories with their retention, the first to fade
// first, without forgetting any; it sets r.DryRun. The request is not repeated.
func (c *Client) ForgetPreview(ctx context.Context, r ForgetRequest) (*ForgettingReport, error) {
	r.DryRun = new(true)
	return Decode[ForgettingReport](c.api.ForgetFadedMemories(ctx, r))
}

// ForgetRun forgets a user's memories that have faded; it sets r.DryRun to
// false. The request is not repeated.
func (c *Client) ForgetRun(ctx context.Context, r ForgetRequest) (*ForgettingReport, error) {
	r.DryRun = new(false)
	return Decode[ForgettingReport](c.api.ForgetFadedMemories(ctx, r))
}
