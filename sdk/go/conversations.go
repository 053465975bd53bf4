package hippocampus

import (
	"context"
	"iter"
	"net/http"

	"hippocampus/sdk/go/api"
)

// Conversations lists a user's conversations, the one with the latest turn first.
func (c *Client) Conversations(ctx context.Context, p ListConversationsParams) iter.Seq2[Conversation, error] {
	return Pages(p.Cursor, func(cursor *string) (*http.Response, error) {
		p := p
		p.Cursor = cursor
		return c.api.ListConversations(ctx, &p)
	}, func(page *api.ConversationPage) ([]Conversation, *string) { return page.Conversations, page.NextCursor })
}

// EndConversation ends a conversation and starts its consolidation. With r.Wait it waits up
// to 30 seconds for the consolidation. The request is not repeated.
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

// ConversationTurns lists what was said in a conversation, the oldest turn first, with the messages. Use it to show a
// chat again.
func (c *Client) ConversationTurns(ctx context.Context, id string, p GetConversationParams) iter.Seq2[Turn, error] {
	return Pages(p.Cursor, func(cursor *string) (*http.Response, error) {
		p := p
		p.Cursor = cursor
		return c.api.GetConversation(ctx, id, &p)
	}, func(page *api.ConversationTurns) ([]Turn, *string) { return page.Turns, page.NextCursor })
}

// RenameConversation sets the title of a conversation, for a list of chats. The request is not repeated.
func (c *Client) RenameConversation(
	ctx context.Context, id, title string, p UpdateConversationParams,
) (*Conversation, error) {
	return Decode[Conversation](c.api.UpdateConversation(ctx, id, &p, api.ConversationPatch{Title: title}))
}

// SetConversation sets how much of memory is on for a conversation, which needs no turn yet, such as a temporary chat.
func (c *Client) SetConversation(
	ctx context.Context, userID, id string, r ConversationRequest,
) (*ConversationSettings, error) {
	return Decode[ConversationSettings](c.api.SetConversation(ctx, id, &api.SetConversationParams{UserID: userID}, r))
}

// DeleteConversation deletes a conversation with its turns, for good, when the user deletes a chat. The memories of it
// stay, unless p.Memories is [api.DeleteConversationParamsMemoriesForget].
func (c *Client) DeleteConversation(
	ctx context.Context, id string, p DeleteConversationParams,
) (*DeletedConversation, error) {
	return Decode[DeletedConversation](c.api.DeleteConversation(ctx, id, &p))
}
