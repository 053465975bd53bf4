// Package router decides which domains of memories a query searches:
//
//	query -> 1 to 3 intent domains
//
// general_chat alone means small talk, which needs no recall. A chat model
// routes if there is a key for one, otherwise rules do. A Gate wraps either: it
// caches, bounds the time, and fails open to all domains.
package router

import (
	"context"

	"hippocampus/internal/memory"
)

// MaxDomains is how many domains one query may be routed to.
const MaxDomains = 3

// Router names the domains of a query. Errors: KindUnavailable, KindBadAnswer.
type Router interface {
	Route(ctx context.Context, query string) ([]memory.Domain, error)
	// Name is the source of each route: "rules", or the model's name.
	Name() string
}

// Route is a decision, as it is returned to the client.
type Route struct {
	Domains []memory.Domain // empty: all
	Source  string          // the router's name, "request", "off" or "failed_open"
	Reason  string          // a message: why all domains are searched
}

// SmallTalk reports whether the query needs no recall.
func (r Route) SmallTalk() bool {
	return len(r.Domains) == 1 && r.Domains[0] == memory.GeneralChat
}
