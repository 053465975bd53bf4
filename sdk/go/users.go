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

// User counts what is kept of a user, and returns the user's settings.
func (c *Client) User(ctx context.Context, userID string) (*UserHoldings, error) {
	return Decode[UserHoldings](c.api.GetUser(ctx, userID))
}

// SetUser sets the time zone in which a user's days are, how much of memory is on for the user, or both. Call it when
// the app learns the zone; without it the offset of the turns decides.
func (c *Client) SetUser(ctx context.Context, userID string, r UserRequest) (*UserSettings, error) {
	return Decode[UserSettings](c.api.SetUser(ctx, userID, r))
}

// Profile returns what is known of a user without a query, the most important first. Use it where there is no query
// yet, such as at the start of a chat. It does not count as an access.
func (c *Client) Profile(ctx context.Context, userID string, p GetProfileParams) (*Profile, error) {
	return Decode[Profile](c.api.GetProfile(ctx, userID, &p))
}

// EraseUser removes everything about a user from every store, for good.
func (c *Client) EraseUser(ctx context.Context, userID string) (*ErasureReceipt, error) {
	return Decode[ErasureReceipt](c.api.EraseUser(ctx, userID))
}

// MergeUsers moves everything of a user to another one, such as what a visitor said before logging in.
func (c *Client) MergeUsers(ctx context.Context, userID string, r MergeRequest) (*MergeReceipt, error) {
	return Decode[MergeReceipt](c.api.MergeUsers(ctx, userID, r))
}

// RenameUser gives a user an id that no user has.
func (c *Client) RenameUser(ctx context.Context, userID string, r RenameRequest) (*MergeReceipt, error) {
	return Decode[MergeReceipt](c.api.RenameUser(ctx, userID, r))
}

// CloneUser copies everything that an export of a user has to another one, who may be new. Another call copies what is
// new, and nothing twice: call again after an error.
func (c *Client) CloneUser(ctx context.Context, userID string, r CloneRequest) (*CloneReceipt, error) {
	return Decode[CloneReceipt](c.api.CloneUser(ctx, userID, r))
}

// Stats counts what the app has. With a user it also has that user's retention.
func (c *Client) Stats(ctx context.Context, p GetStatsParams) (*Stats, error) {
	return Decode[Stats](c.api.GetStats(ctx, &p))
}
