package router

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
	"golang.org/x/sync/singleflight"

	"hippocampus/internal/cache"
	"hippocampus/internal/memory"
)

// Options bound a Gate. A zero value means the default.
type Options struct {
	Timeout     time.Duration    // how long a query waits for the model; default 800 ms
	CallTimeout time.Duration    // of a call to the model; default 30 s
	Now         func() time.Time // clock of the cached routes; by default they do not expire
	Logger      *zap.Logger      // by default nothing is logged

	calls      int           // to the model at a time; default 32
	cacheBytes int           // of cached routes; default 4 MiB
	cacheTTL   time.Duration // of a cached route; default 10 min
}

// Gate routes every query in bounded time: by the model if it answers in time,
// otherwise by rules. A late answer is cached for the next query of the same text.
//
// After a late answer no query waits for the model until one of its calls, which go
// on in the background, has been answered in time: so a slow model delays one query
// and not each, and needs no query to wait for it to be found quick again.
type Gate struct {
	model   Router // nil: rules route every query
	options Options
	cache   *cache.Cache[entry]
	flights singleflight.Group
	slots   chan struct{} // holds an element for each running call
	late    atomic.Bool   // the last call was not answered in time
	counts  counts

	open  context.Context // ends with Close
	close context.CancelFunc
	calls sync.RWMutex // read-locked by each call to the model, so that Close can wait
}

// counts are numbers of routes by what decided them.
type counts struct{ model, rules, late, failed atomic.Uint64 }

// routeBytes is about the size of a cached route.
const routeBytes = 200

type entry struct {
	route   Route
	expires time.Time
}

var errLate = errors.New("the model was late")

// Open returns a gate for a model, or for rules if model is nil.
func Open(model Router, o Options) *Gate {
	o.Timeout = cmp.Or(o.Timeout, 800*time.Millisecond)
	o.CallTimeout = cmp.Or(o.CallTimeout, 30*time.Second)
	o.Logger = cmp.Or(o.Logger, zap.NewNop())
	o.calls = cmp.Or(o.calls, 32)
	o.cacheBytes = cmp.Or(o.cacheBytes, 4<<20)
	o.cacheTTL = cmp.Or(o.cacheTTL, 10*time.Minute)
	if o.Now == nil {
		o.Now = func() time.Time { return time.Time{} }
	}
	g := &Gate{
		model: model, options: o, cache: cache.New[entry](o.cacheBytes), slots: make(chan struct{}, o.calls),
	}
	g.open, g.close = context.WithCancel(context.Background())
	return g
}

// Close cancels the running calls and waits for them. Rules route later queries.
func (g *Gate) Close() {
	g.close()
	g.calls.Lock()
	g.calls.Unlock() //nolint:gocritic,staticcheck // the lock is only to wait
}

// CacheStats returns the statistics of the cached routes.
func (g *Gate) CacheStats() cache.Stats { return g.cache.Stats() }

// Counts returns how many queries the "model" has routed and, by rules, how many
// because there is no model ("rules"), it was "late" or it "failed".
func (g *Gate) Counts() map[string]uint64 {
	return map[string]uint64{
		"model": g.counts.model.Load(), "rules": g.counts.rules.Load(),
		"late": g.counts.late.Load(), "failed": g.counts.failed.Load(),
	}
}

// Route decides which domains a query searches. Equal queries share one call. Rules
// route a query if the model fails, panics or is late.
func (g *Gate) Route(ctx context.Context, query string) Route {
	if g.model == nil {
		g.counts.rules.Add(1)
		return routeByRules(query)
	}
	route, err := g.routeByModel(ctx, query)
	if err == nil {
		g.counts.model.Add(1)
		return route.clone()
	}
	if errors.Is(err, errLate) {
		g.counts.late.Add(1)
	} else {
		g.counts.failed.Add(1)
		g.options.Logger.Warn("rules route a query: the model failed",
			zap.String("model", g.model.Name()), zap.Error(err))
	}
	route = routeByRules(query)
	route.Degraded, route.Reason = true, "rules routed the query: "+err.Error()
	return route
}

// routeByModel returns the cached route, or the model's if it answers in time.
func (g *Gate) routeByModel(ctx context.Context, query string) (Route, error) {
	hash := sha256.Sum256([]byte(query))
	key := string(hash[:]) // short, however long the query
	if e, ok := g.cache.Get(key); ok && g.options.Now().Before(e.expires) {
		return e.route, nil
	}
	limit := g.options.Timeout
	if g.late.Load() {
		limit = 0
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	asking := trace.ContextWithSpan(g.open, trace.SpanFromContext(ctx))
	done := g.flights.DoChan(key, func() (any, error) { return g.ask(asking, query, key) })
	select {
	case <-ctx.Done():
		return Route{}, errLate
	case result := <-done:
		if result.Err != nil {
			return Route{}, result.Err
		}
		return result.Val.(Route), nil
	}
}

// ask calls the model for all callers that wait for the same query, and caches its
// route. It ends with ctx, which is that of the gate, or its own timeout, not with the context of a caller.
func (g *Gate) ask(ctx context.Context, query, key string) (route any, err error) {
	g.calls.RLock()
	defer g.calls.RUnlock()
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
	default:
		return nil, fmt.Errorf("%w: %d calls are running", errLate, cap(g.slots))
	}
	defer func() {
		if cause := recover(); cause != nil {
			err = memory.Errorf(memory.KindInternal, "the model's router panicked: %v", cause)
		}
	}()
	defer g.watch()()
	ctx, cancel := context.WithTimeout(ctx, g.options.CallTimeout)
	defer cancel()
	domains, err := g.model.Route(ctx, query)
	if err != nil {
		return nil, err
	}
	r := Route{Domains: domains, Source: g.model.Name()}
	g.cache.Add(key, entry{r, g.options.Now().Add(g.options.cacheTTL)}, routeBytes)
	return r, nil
}

// watch notes whether a call that begins is late. The caller calls done at its end.
func (g *Gate) watch() (done func()) {
	overdue := time.AfterFunc(g.options.Timeout, func() {
		if !g.late.Swap(true) {
			g.options.Logger.Warn("rules route queries until the model answers in time",
				zap.String("model", g.model.Name()), zap.Duration("limit", g.options.Timeout))
		}
	})
	return func() {
		if overdue.Stop() && g.late.Swap(false) {
			g.options.Logger.Info("the model answers in time", zap.String("model", g.model.Name()))
		}
	}
}
