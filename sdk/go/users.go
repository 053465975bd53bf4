package hippocampus

import (
	"context"
	"iter"
	"net/http"

	"hippocampus/sdk/go/api"
)

// Users lists the users with active memories, in the order of their ids.
func (c *Client) Users(ctx context.Context) iter.Seq2[UserSummary, error] {
	return Pages(nil, func(cursor *string) (*http.Response, error) {
		return c.api.ListUsers(ctx, &api.ListUsersParams{Cursor: cursor})
	}, func(page *api.UserPage) ([]UserSummary, *string) { return page.Users, page.NextCursor })
}

// EraseUser removes everything about a user from every store, for good.
func (c *Client) EraseUser(ctx context.Context, userID string) (*ErasureReceipt, error) {
	return Decode[ErasureReceipt](c.api.EraseUser(ctx, userID))
}

// Stats counts what the app has. With a user it also has that user's retention.
func (c *Client) Stats(ctx context.Context, p GetStatsParams) (*Stats, error) {
	return Decode[Stats](c.api.GetStats(ctx, &p))
}
