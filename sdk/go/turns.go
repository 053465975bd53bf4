package hippocampus

import (
	"context"
	"iter"
	"net/http"

	"github.com/google/uuid"

	"hippocampus/sdk/go/api"
)

// AddTurn reports what was said. The turn is on disk when it answers, and is
// processed afterwards; with r.Wait the answer has the verdicts, unless that
// takes more than 30 seconds. Without r.ID it gets a UUID, so that a repeated
// request does not make a second turn.
func (c *Client) AddTurn(ctx context.Context, r TurnRequest) (*Turn, error) {
	if r.ID == nil {
		r.ID = new(uuid.NewString())
	}
	return Decode[Turn](c.api.AddTurn(ctx, r))
}

// Turn returns a turn, with its messages and the verdict about each fact of it.
func (c *Client) Turn(ctx context.Context, id string) (*Turn, error) {
	return Decode[Turn](c.api.GetTurn(ctx, id))
}

// Turns lists turns, the newest first.
func (c *Client) Turns(ctx context.Context, p ListTurnsParams) iter.Seq2[Turn, error] {
	return Pages(p.Cursor, func(cursor *string) (*http.Response, error) {
		p := p
		p.Cursor = cursor
		return c.api.ListTurns(ctx, &p)
	}, func(page *api.TurnPage) ([]Turn, *string) { return page.Turns, page.NextCursor })
}

// Conversations lists a user's conversations, the one with the latest turn first.
func (c *Client) Conversations(ctx context.Context, p ListConversationsParams) iter.Seq2[Conversation, error] {
	return Pages(p.Cursor, func(cursor *string) (*http.Response, error) {
		p := p
		p.Cursor = cursor
		return c.api.ListConversations(ctx, &p)
	}, func(page *api.ConversationPage) ([]Conversation, *string) { return page.Conversations, page.NextCursor })
}

// EndConversation states that nothing more is to come, and starts the
// conversation's consolidation; with r.Wait it waits for it, for up to 30
// seconds. The request is not repeated.
func (c *Client) EndConversation(
	ctx context.Context, id string, r EndConversationRequest,
) (*EndedConversation, error) {
	return Decode[EndedConversation](c.api.EndConversation(ctx, id, r))
}

// Consolidate consolidates a conversation, which stays open. With a model it may
// take longer than [DefaultTimeout] if r.Wait is set. The request is not repeated.
func (c *Client) Consolidate(ctx context.Context, id string, r ConsolidateRequest) (*EndedConversation, error) {
	return Decode[EndedConversation](c.api.ConsolidateConversation(ctx, id, r))
}

// Candidates lists the facts that the scorer proposed, with their verdicts, the
// newest first.
func (c *Client) Candidates(ctx context.Context, p ListCandidatesParams) iter.Seq2[Candidate, error] {
	return Pages(p.Cursor, func(cursor *string) (*http.Response, error) {
		p := p
		p.Cursor = cursor
		return c.api.ListCandidates(ctx, &p)
	}, func(page *api.CandidatePage) ([]Candidate, *string) { return page.Candidates, page.NextCursor })
}

// Promote makes memories of candidates that the gate refused. The request is not repeated.
func (c *Client) Promote(ctx context.Context, r PromoteRequest) (*Promotion, error) {
	return Decode[Promotion](c.api.PromoteCandidates(ctx, r))
}
