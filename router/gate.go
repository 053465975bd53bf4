package router

import (
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

// FailedOpen is the Source of a route that the router could not give.
const FailedOpen = "failed_open"

// Options bound a Gate. Zero values mean the defaults named beside them.
type Options struct {
	Timeout    time.Duration    // of one route; 800 ms
	CacheBytes int              // of routes remembered; 4 MiB
	CacheTTL   time.Duration    // how long each is; 1 h
	Now        func() time.Time // ages the cache; nil: entries only leave when it is full
	Logger     *zap.Logger      // none
}

// Gate routes every query, in bounded time.
type Gate struct {
	router  Router
	options Options
	cache   *cache.Cache[entry]
	flights singleflight.Group

	open  context.Context // ends with Close
	close context.CancelFunc
	calls sync.RWMutex // read-locked by each call to the router, so that Close can wait
}

type key [sha256.Size]byte // of a query: short, however long the query

// routeBytes is about what a route holds.
const routeBytes = 200

type entry struct {
	route   Route
	expires time.Time
}

// Open puts a gate before a router.
func Open(r Router, o Options) *Gate {
	if o.Timeout <= 0 {
		o.Timeout = 800 * time.Millisecond
	}
	if o.CacheBytes <= 0 {
		o.CacheBytes = 4 << 20
	}
	if o.CacheTTL <= 0 {
		o.CacheTTL = time.Hour
	}
	if o.Now == nil {
		o.Now = func() time.Time { return time.Time{} }
	}
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	g := &Gate{router: r, options: o, cache: cache.New[entry](o.CacheBytes)}
	g.open, g.close = context.WithCancel(context.Background())
	return g
}

// Close cancels the calls under way and waits for them. Later routes fail open.
func (g *Gate) Close() {
	g.close()
	g.calls.Lock()
	defer g.calls.Unlock()
}

// CacheStats tell how the remembered routes do.
func (g *Gate) CacheStats() cache.Stats { return g.cache.Stats() }

// Name is the router's.
func (g *Gate) Name() string { return g.router.Name() }

// Route decides where a query looks. Equal queries share one call, good routes
// are remembered. It fails open to all domains when the router errs, answers
// nonsense, panics or is not done in time; then the call is cancelled.
func (g *Gate) Route(ctx context.Context, query string) Route {
	k := key(sha256.Sum256([]byte(query)))
	if e, ok := g.cache.Get(string(k[:])); ok && g.options.Now().Before(e.expires) {
		return e.route.clone()
	}
	ctx, cancel := context.WithTimeout(ctx, g.options.Timeout)
	defer cancel()
	done := g.flights.DoChan(string(k[:]), func() (any, error) { return g.ask(query, k) })
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

// ask calls the router, for everybody who waits for the same query: it ends
// with its own timeout, not with any one caller.
func (g *Gate) ask(query string, k key) (route any, err error) {
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
	g.cache.Add(string(k[:]), entry{r, g.options.Now().Add(g.options.CacheTTL)}, routeBytes)
	return r, nil
}

func (g *Gate) tooLate(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %v", g.options.Timeout)
	}
	return errors.New("the request was cancelled")
}

// check makes a route of a router's domains. No domains means all of them;
// general_chat beside others says nothing.
func check(domains []memory.Domain, source string) (Route, error) {
	if len(domains) > MaxDomains {
		return Route{}, memory.Errorf(memory.KindBadAnswer, "%d domains came: at most %d are expected", len(domains), MaxDomains)
	}
	for _, d := range domains {
		if !slices.Contains(memory.Domains, d) {
			return Route{}, memory.Errorf(memory.KindBadAnswer, "the unknown domain %.40q came", d)
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
	g.options.Logger.Warn("routing failed open", zap.String("router", g.router.Name()), zap.Error(err))
	return Route{Source: FailedOpen, Reason: err.Error()}
}

func (r Route) clone() Route {
	r.Domains = slices.Clone(r.Domains)
	return r
}
