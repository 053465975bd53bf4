package frame

import (
	"context"

	"hippocampus/internal/memory"
)

// The context keys of a request that was admitted to a mount.
type (
	admittedKey struct{} // memory.Key
	admittedID  struct{} // the id of the request, which the requests that it makes have also
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

// CleanedIn returns the texts of the request to a mount that ctx belongs to whose characters became U+FFFD, by their
// paths in its body. The requests to the API that the mount makes have no such characters any more.
func CleanedIn(ctx context.Context) []CleanedText {
	cleaned, _ := ctx.Value(admittedRaw{}).([]CleanedText)
	return cleaned
}
