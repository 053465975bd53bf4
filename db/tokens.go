package db

import (
	"context"

	"hippocampus/internal/memory"
)

// Tokens counts the tokens that models use for each app, by day and kind.
type Tokens interface {
	// TokensOf returns the tokens that an app has used on a day, by kind, without the kinds that it has not used.
	TokensOf(ctx context.Context, appID string, day int) ([]memory.TokenDay, error)
	// AddTokens adds tokens to those that were counted before. No two of used have the same app, day and kind. An
	// error adds nothing, unless the outcome is not known.
	AddTokens(ctx context.Context, used []memory.TokenDay) error
	// PurgeTokens deletes the counts of days before one, and returns how many.
	PurgeTokens(ctx context.Context, before int) (int, error)
}
