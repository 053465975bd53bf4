package hippocampus

import (
	"context"
	"iter"
	"net/http"

	"github.com/google/uuid"

	"hippocampus/sdk/go/api"
)

// AddTurn reports what was said. When AddTurn returns, the turn is on the server's disk; it
// is processed afterwards. With r.Wait the answer has the verdicts, unless processing takes
// more than 30 seconds. Without r.ID the turn gets a UUID, so that a repeated request does
// not make a second turn. With r.Replaces the turn takes the place of an earlier turn,
// which is withdrawn.
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

// WithdrawTurn takes a turn back when the user has edited or deleted its message, or when its answer is generated
// again. What was remembered of the turn is forgotten, and what it superseded is active again. No restore undoes that.
// For an edited message it is enough to report the new turn with r.Replaces.
func (c *Client) WithdrawTurn(ctx context.Context, id string) (*WithdrawnTurn, error) {
	return Decode[WithdrawnTurn](c.api.WithdrawTurn(ctx, id))
}

// ReplayTurn queues a failed turn again, once an operator has removed the cause. The request is not repeated.
func (c *Client) ReplayTurn(ctx context.Context, id string) (*Turn, error) {
	return Decode[Turn](c.api.ReplayTurn(ctx, id))
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
