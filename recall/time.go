package recall

import (
	"context"
	"sync"
	"time"

	"hippocampus/internal/memory"
)

// allowance is the time of the recalls of one request.
type allowance struct {
	lookupEnd time.Time // until when recall waits for the router and the embedder, which a search waits for
	partsEnd  time.Time // until when recall waits for the other parts that it can do without

	mu    sync.Mutex
	spent map[string]time.Duration // by part
}

type allowanceKey struct{}

// Within bounds the recalls with the returned context together. They wait for the router and the
// embedder for at most half of the timeout, for all parts that they can do without for at most four
// fifths, and for each part for at most its own timeout. After the whole timeout they fail with
// KindUnavailable. A context that is bounded already, or a timeout of 0, stays as it is.
func Within(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if _, bounded := ctx.Value(allowanceKey{}).(*allowance); bounded || timeout == 0 {
		return ctx, func() {}
	}
	now := time.Now() //nolint:forbidigo // measures a duration
	ctx = context.WithValue(ctx, allowanceKey{}, &allowance{
		lookupEnd: now.Add(timeout / 2), partsEnd: now.Add(timeout * 4 / 5), spent: map[string]time.Duration{},
	})
	return context.WithTimeoutCause(ctx, timeout, memory.Errorf(memory.KindUnavailable,
		"recall took longer than recall.timeout (%v): the database is slow", timeout))
}

// waitFor returns the context of a call to a part that recall can do without. Call done after it.
func waitFor(ctx context.Context, part string, timeout time.Duration) (bounded context.Context, done func()) {
	a, _ := ctx.Value(allowanceKey{}).(*allowance)
	if a == nil {
		return context.WithTimeout(ctx, timeout)
	}
	start := time.Now() //nolint:forbidigo // measures a duration
	a.mu.Lock()
	end := start.Add(timeout - a.spent[part])
	a.mu.Unlock()
	latest := a.partsEnd
	if part == partRouter || part == partEmbedder {
		latest = a.lookupEnd
	}
	if latest.Before(end) {
		end = latest
	}
	bounded, cancel := context.WithDeadline(ctx, end)
	return bounded, func() {
		cancel()
		a.mu.Lock()
		defer a.mu.Unlock()
		a.spent[part] += time.Since(start)
	}
}
