package hippocampus

import "context"

// Recall returns the memories that fit a query, the best first, with the parts
// of their scores.
func (c *Client) Recall(ctx context.Context, r RecallRequest) (*RecallAnswer, error) {
	return Decode[RecallAnswer](c.api.RecallMemories(ctx, r))
}

// Context returns what a model needs to know, in at most a budget: instructions,
// facts, memories and the conversation, as a text or as messages.
func (c *Client) Context(ctx context.Context, r ContextRequest) (*ContextAnswer, error) {
	return Decode[ContextAnswer](c.api.BuildContext(ctx, r))
}

// Reflect condenses what a user said lately into insights. A model does so,
// which may take longer than [DefaultTimeout]. The request is not repeated.
func (c *Client) Reflect(ctx context.Context, r ReflectRequest) (*ReflectionReport, error) {
	return Decode[ReflectionReport](c.api.ReflectOnUser(ctx, r))
}

// Compress condenses a user's old memories; with r.DryRun it lists the groups
// and changes nothing. A model does so, which may take longer than
// [DefaultTimeout]. The request is not repeated.
func (c *Client) Compress(ctx context.Context, r CompressRequest) (*CompressionReport, error) {
	return Decode[CompressionReport](c.api.CompressMemories(ctx, r))
}
