// Package router decides which domains of memories a query searches:
//
//	query -> 1 to 3 intent domains
//
// general_chat alone means small talk, which needs no recall. A chat model
// routes if there is a key for one, otherwise rules do. A Gate wraps either: it
// caches, bounds the time, and fails open to all domains.
package router

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/singleflight"

	"hippocampus/internal/cache"
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

// FailedOpen is the Source of a route to all domains because the router failed.
const FailedOpen = "failed_open"

// Options bound a Gate. A zero value means the default.
type Options struct {
	Timeout time.Duration    // of one route; default 800 ms
	Now     func() time.Time // clock of the cached routes; by default they do not expire
	Logger  *zap.Logger      // by default nothing is logged

	cacheBytes int           // of cached routes; default 4 MiB
	cacheTTL   time.Duration // of a cached route; default 10 min
}

// Gate routes every query in bounded time.
type Gate struct {
	router  Router
	options Options
	cache   *cache.Cache[entry]
	flights singleflight.Group

	open  context.Context // ends with Close
	close context.CancelFunc
	calls sync.RWMutex // read-locked by each call to the router, so that Close can wait
}

// routeBytes is about the size of a cached route.
const routeBytes = 200

type entry struct {
	route   Route
	expires time.Time
}

// Open returns a gate for a router.
func Open(r Router, o Options) *Gate {
	o.Timeout = cmp.Or(o.Timeout, 800*time.Millisecond)
	o.Logger = cmp.Or(o.Logger, zap.NewNop())
	o.cacheBytes = cmp.Or(o.cacheBytes, 4<<20)
	o.cacheTTL = cmp.Or(o.cacheTTL, 10*time.Minute)
	if o.Now == nil {
		o.Now = func() time.Time { return time.Time{} }
	}
	g := &Gate{router: r, options: o, cache: cache.New[entry](o.cacheBytes)}
	g.open, g.close = context.WithCancel(context.Background())
	return g
}

// Close cancels the running calls and waits for them. Later routes fail open.
func (g *Gate) Close() {
	g.close()
	g.calls.Lock()
	g.calls.Unlock() //nolint:gocritic,staticcheck // the lock is only to wait
}

// CacheStats returns the statistics of the cached routes.
func (g *Gate) CacheStats() cache.Stats { return g.cache.Stats() }

// Name returns the name of the router.
func (g *Gate) Name() string { return g.router.Name() }

// Route decides which domains a query searches. Equal queries share one call,
// and good routes are cached. If the router fails, returns an invalid route,
// panics or does not answer in time, Route fails open to all domains; a call that
// takes too long is cancelled.
func (g *Gate) Route(ctx context.Context, query string) Route {
	hash := sha256.Sum256([]byte(query))
	key := string(hash[:]) // short, however long the query
	if e, ok := g.cache.Get(key); ok && g.options.Now().Before(e.expires) {
		return e.route.clone()
	}
	ctx, cancel := context.WithTimeout(ctx, g.options.Timeout)
	defer cancel()
	done := g.flights.DoChan(key, func() (any, error) { return g.ask(query, key) })
	select {
	case <-ctx.Done():
		return g.failOpen(g.tooLate(ctx.Err()))
	case result := <-done:
		if result.Err != nil {
			return g.failOpen(result.Err)
		}
		return result.Val.(Route).clone()
	}
}

// ask calls the router for all callers that wait for the same query: it ends
// with its own timeout, not with the context of one caller.
func (g *Gate) ask(query, key string) (route any, err error) {
	g.calls.RLock()
	defer g.calls.RUnlock()
	defer func() {
		if cause := recover(); cause != nil {
			err = memory.Errorf(memory.KindInternal, "the router panicked: %v", cause)
		}
	}()
	ctx, cancel := context.WithTimeout(g.open, g.options.Timeout)
	defer cancel()
	domains, err := g.router.Route(ctx, query)
	if err != nil {
		if ctx.Err() != nil {
			err = g.tooLate(ctx.Err())
		}
		return nil, err
	}
	r, err := check(domains, g.router.Name())
	if err != nil {
		return nil, err
	}
	g.cache.Add(key, entry{r, g.options.Now().Add(g.options.cacheTTL)}, routeBytes)
	return r, nil
}

func (g *Gate) tooLate(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %v", g.options.Timeout)
	}
	return errors.New("the request was cancelled")
}

// check turns the domains of a router into a route. No domains means all of
// them. Next to other domains, general_chat is ignored.
func check(domains []memory.Domain, source string) (Route, error) {
	if len(domains) > MaxDomains {
		return Route{}, memory.Errorf(memory.KindBadAnswer,
			"the router returned %d domains: at most %d are allowed", len(domains), MaxDomains)
	}
	for _, d := range domains {
		if !slices.Contains(memory.Domains, d) {
			return Route{}, memory.Errorf(memory.KindBadAnswer, "the router returned the unknown domain %.40q", d)
		}
	}
	domains = slices.Clone(domains)
	if len(domains) > 1 {
		domains = slices.DeleteFunc(domains, func(d memory.Domain) bool { return d == memory.GeneralChat })
	}
	if len(domains) == 0 {
		return Route{Source: source, Reason: "no domain stands out: all are searched"}, nil
	}
	return Route{Domains: domains, Source: source}, nil
}

func (g *Gate) failOpen(err error) Route {
	g.options.Logger.Warn("the router failed: all domains are searched",
		zap.String("router", g.router.Name()), zap.Error(err))
	return Route{Source: FailedOpen, Reason: err.Error()}
}

func (r Route) clone() Route {
	r.Domains = slices.Clone(r.Domains)
	return r
}
