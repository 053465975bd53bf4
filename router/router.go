// Package router decides where a query looks:
//
//	query -> 1 to 3 intent domains
//
// general_chat alone means small talk, which needs no recall. An LLM routes
// where there is a chat key, rules where there is none. Open wraps either: it
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
	// Name is told with each route: "rules", or the model's name.
	Name() string
}

// Route is a decision that can be told to the caller.
type Route struct {
	Domains []memory.Domain // empty: all
	Source  string          // the router's name, "request", "off" or "failed_open"
	Reason  string          // for people; why it failed open
}

// SmallTalk reports whether the query needs no recall.
func (r Route) SmallTalk() bool {
	return len(r.Domains) == 1 && r.Domains[0] == memory.GeneralChat
}
