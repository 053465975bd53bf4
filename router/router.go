// Package router decides which domains of memories a query searches:
//
//	query -> 1 to 3 intent domains
//
// general_chat alone means small talk, which needs no recall. A chat model routes if there is a key for one. Rules
// route without a key, and while the model is late or fails. A Fallback chooses between the model and the rules, and
// caches the model's routes.
package router

import (
	"context"
	"slices"

	"hippocampus/internal/memory"
)

// MaxDomains is how many domains one query may be routed to.
const MaxDomains = 3

// Router is a model that names the domains of a query.
type Router interface {
	// Route returns 1 to MaxDomains domains, general_chat only alone. Errors:
	// KindUnavailable, KindBadAnswer.
	Route(ctx context.Context, query string) ([]memory.Domain, error)
	// Name is the source of each route.
	Name() string
}

// Route is a decision, as it is returned to the client.
type Route struct {
	Domains  []memory.Domain // empty: no domain is lifted
	Source   string          // the model's name, "rules", "request" or "off"
	Reason   string          // a message: why there is no domain, or why rules routed the query
	Degraded bool            // rules routed the query in place of the model
}

// SmallTalk reports whether the query needs no recall.
func (r Route) SmallTalk() bool {
	return len(r.Domains) == 1 && r.Domains[0] == memory.GeneralChat
}

func (r Route) clone() Route {
	r.Domains = slices.Clone(r.Domains)
	return r
}
