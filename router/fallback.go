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
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// Options bound a Fallback. A zero value means the default.
type Options struct {
	Timeout     time.Duration    // how long a query waits for the model; default 800 ms
	CallTimeout time.Duration    // of a call to the model; default 30 s
	Now         func() time.Time // clock of the cached routes; by default they do not expire
	Logger      *zap.Logger      // by default nothing is logged

	calls      int           // to the model at a time; default 32
	cacheBytes int           // of cached routes; default 4 MiB
	cacheTTL   time.Duration // of a cached route; default 10 min
}

// Fallback routes every query in bounded time: by the model if it answers in time, otherwise by rules. A late answer is
// cached for the next query of the same text.
//
// After a late answer, no query waits for the model until one of its calls has been answered in time. Calls continue in
// the background. So a slow model delays one query and not each, and no query has to wait to find out that the model is
// fast again.
type Fallback struct {
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

// counts are the numbers of routes by the model, and of those by rules for each reason.
type counts struct{ model, rules, late, failed atomic.Uint64 }

// routeBytes is about the size of a cached route.
const routeBytes = 200

type entry struct {
	route   Route
	expires time.Time
}

var errLate = errors.New("the model was late")

// Open returns a router by a model, or for rules if model is nil.
func Open(model Router, o Options) *Fallback {
	o.Timeout = cmp.Or(o.Timeout, 800*time.Millisecond)
	o.CallTimeout = cmp.Or(o.CallTimeout, 30*time.Second)
	o.Logger = cmp.Or(o.Logger, zap.NewNop())
	o.calls = cmp.Or(o.calls, 32)
	o.cacheBytes = cmp.Or(o.cacheBytes, 4<<20)
	o.cacheTTL = cmp.Or(o.cacheTTL, 10*time.Minute)
	if o.Now == nil {
		o.Now = func() time.Time { return time.Time{} }
	}
	f := &Fallback{
		model: model, options: o, cache: cache.New[entry](o.cacheBytes), slots: make(chan struct{}, o.calls),
	}
	f.open, f.close = context.WithCancel(context.Background())
	return f
}

// Close cancels the running calls and waits for them. Rules route later queries.
func (f *Fallback) Close() {
	f.close()
	f.calls.Lock()
	f.calls.Unlock() //nolint:gocritic,staticcheck // the lock is only to wait
}

// CacheStats returns the statistics of the cached routes.
func (f *Fallback) CacheStats() cache.Stats { return f.cache.Stats() }

// Counts returns how many queries the "model" has routed, and how many the rules have routed because there is no model
// ("rules"), or the model was "late" or "failed".
func (f *Fallback) Counts() map[string]uint64 {
	return map[string]uint64{
		"model": f.counts.model.Load(), "rules": f.counts.rules.Load(),
		"late": f.counts.late.Load(), "failed": f.counts.failed.Load(),
	}
}

// Route decides which domains a query searches. Equal queries share one call. Rules
// route a query if the model fails, panics or is late.
func (f *Fallback) Route(ctx context.Context, query string) Route {
	if f.model == nil {
		f.counts.rules.Add(1)
		return routeByRules(query)
	}
	route, err := f.routeByModel(ctx, query)
	if err == nil {
		f.counts.model.Add(1)
		return route.clone()
	}
	if errors.Is(err, errLate) {
		f.counts.late.Add(1)
	} else {
		f.counts.failed.Add(1)
		f.options.Logger.Warn("rules route a query: the model failed",
			zap.String("model", f.model.Name()), zap.Error(err))
	}
	route = routeByRules(query)
	route.Degraded, route.Reason = true, "rules routed the query: "+err.Error()
	return route
}

// routeByModel returns the cached route, or the model's if it answers in time.
func (f *Fallback) routeByModel(ctx context.Context, query string) (Route, error) {
	hash := sha256.Sum256([]byte(query))
	key := string(hash[:]) // short, however long the query
	if e, ok := f.cache.Get(key); ok && f.options.Now().Before(e.expires) {
		return e.route, nil
	}
	limit := f.options.Timeout
	if f.late.Load() {
		limit = 0
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	asking := llm.ForApp(trace.ContextWithSpan(f.open, trace.SpanFromContext(ctx)), llm.AppOf(ctx))
	done := f.flights.DoChan(key, func() (any, error) { return f.ask(asking, query, key) })
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

// ask calls the model for all callers that wait for the same query, and caches its route. It ends when ctx ends, as it
// does at Close, or after its own timeout. The end of a caller's context does not end it.
func (f *Fallback) ask(ctx context.Context, query, key string) (route any, err error) {
	f.calls.RLock()
	defer f.calls.RUnlock()
	select {
	case f.slots <- struct{}{}:
		defer func() { <-f.slots }()
	default:
		return nil, fmt.Errorf("%w: %d calls are running", errLate, cap(f.slots))
	}
	defer func() {
		if cause := recover(); cause != nil {
			err = memory.Errorf(memory.KindInternal, "the model's router panicked: %v", cause)
		}
	}()
	defer f.watch()()
	ctx, cancel := context.WithTimeout(ctx, f.options.CallTimeout)
	defer cancel()
	domains, err := f.model.Route(ctx, query)
	if err != nil {
		return nil, err
	}
	r := Route{Domains: domains, Source: f.model.Name()}
	f.cache.Add(key, entry{r, f.options.Now().Add(f.options.cacheTTL)}, routeBytes)
	return r, nil
}

// watch notes whether the call that begins is late. The caller calls done at the end of the call.
func (f *Fallback) watch() (done func()) {
	overdue := time.AfterFunc(f.options.Timeout, func() {
		if !f.late.Swap(true) {
			f.options.Logger.Warn("rules route queries until the model answers in time",
				zap.String("model", f.model.Name()), zap.Duration("limit", f.options.Timeout))
		}
	})
	return func() {
		if overdue.Stop() && f.late.Swap(false) {
			f.options.Logger.Info("the model answers in time", zap.String("model", f.model.Name()))
		}
	}
}
