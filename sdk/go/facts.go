package hippocampus

import (
	"context"
	"iter"
	"net/http"

	"hippocampus/sdk/go/api"
)

// Facts lists a user's timeline facts that are valid at p.At, the latest first.
func (c *Client) Facts(ctx context.Context, p ListFactsParams) iter.Seq2[Fact, error] {
	return Pages(p.Cursor, func(cursor *string) (*http.Response, error) {
		p := p
		p.Cursor = cursor
		return c.api.ListFacts(ctx, &p)
	}, func(page *api.FactPage) ([]Fact, *string) { return page.Facts, page.NextCursor })
}

// StateFact states that a value of a type and key is valid from an instant on. json.Marshal
// encodes r.Value.
func (c *Client) StateFact(ctx context.Context, r FactRequest) (*FactOutcome, error) {
	return Decode[FactOutcome](c.api.StateFact(ctx, r))
}

// EndFact ends the fact that is valid at p.At.
func (c *Client) EndFact(ctx context.Context, p EndFactParams) (*Fact, error) {
	return Decode[Fact](c.api.EndFact(ctx, &p))
}

// FactHistory lists all evidence about a type and key, whether it was accepted or not, the oldest first. Use it to show
// why a fact holds.
func (c *Client) FactHistory(ctx context.Context, p ListFactHistoryParams) iter.Seq2[Fact, error] {
	return Pages(p.Cursor, func(cursor *string) (*http.Response, error) {
		p := p
		p.Cursor = cursor
		return c.api.ListFactHistory(ctx, &p)
	}, func(page *api.FactPage) ([]Fact, *string) { return page.Facts, page.NextCursor })
}
