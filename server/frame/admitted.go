package frame

import (
	"context"

	"hippocampus/internal/memory"
)

// The context keys of a request that was admitted to a mount.
type (
	admittedKey struct{} // memory.Key
	admittedID  struct{} // the id of the request and of the requests that it makes
	admittedRaw struct{} // the texts of a request to a mount that were cleaned
)

// WithKey returns a context whose requests to a Server come from a key, whatever their headers hold.
func WithKey(ctx context.Context, key memory.Key) context.Context {
	return context.WithValue(ctx, admittedKey{}, key)
}

// KeyOf returns the key of a request that was admitted to a mount, or that of WithKey.
func KeyOf(ctx context.Context) (key memory.Key, ok bool) {
	key, ok = ctx.Value(admittedKey{}).(memory.Key)
	return key, ok
}

// CleanedIn returns the texts in which characters became U+FFFD, by their paths in the body of the request to a mount
// that ctx belongs to. The mount's own requests to the API have no such characters.
func CleanedIn(ctx context.Context) []CleanedText {
	cleaned, _ := ctx.Value(admittedRaw{}).([]CleanedText)
	return cleaned
}
