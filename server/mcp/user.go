package mcp

import (
	"context"
	"net/http"
	"net/url"

	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

const (
	userHeader    = "X-Hippocampus-User"
	userParameter = "user_id"
)

// bound returns the key of a request, bound to the user whom the header or the query names if it is not bound already.
// A model chooses the arguments of tools, but neither the header nor the address, which belong to the configuration of
// its host. The API refuses a bound key everything of other users.
func bound(r *http.Request) (memory.Key, error) {
	key, _ := frame.KeyOf(r.Context())
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return key, memory.Invalid(memory.Field{
			Path: "query", Message: "is not well formed: write & between parameters and percent-encode their values",
		})
	}
	for _, source := range []struct {
		path   string
		values []string
	}{{"header." + userHeader, r.Header.Values(userHeader)}, {"query." + userParameter, query[userParameter]}} {
		for _, value := range source.values {
			if why := memory.CheckID(value, false); why != "" {
				return key, memory.Invalid(memory.Field{Path: source.path, Message: why})
			}
			if key.UserID != "" && key.UserID != value {
				return key, memory.Invalid(memory.Field{
					Path: source.path, Message: "names another user than the key or another part of the request: give one",
				})
			}
			key.UserID = value
		}
	}
	return key, nil
}

// userOf returns the user whom a connection is bound to; "": it is not.
func userOf(ctx context.Context) string {
	key, _ := frame.KeyOf(ctx)
	return key.UserID
}

// flavorOf returns the flavor of the server that answers a connection.
func flavorOf(ctx context.Context) flavor {
	key, _ := frame.KeyOf(ctx)
	return flavor{
		writes: key.Role.Includes(memory.RoleWrite), bound: userOf(ctx) != "", pool: key.PoolAccess() != memory.PoolNone,
	}
}
