package frame

import (
	"errors"
	"math"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"hippocampus/internal/memory"
)

// limitersCached bounds the memory of rates. An evicted key starts again with a
// full burst.
const limitersCached = 10_000

// rates is a token bucket for each key, or for each address.
type rates struct {
	limit    rate.Limit // 0: unlimited
	burst    int
	now      func() time.Time
	limiters *lru.Cache[string, *rate.Limiter] // by key id or address
}

func newRates(perSecond float64, burst int, now func() time.Time) *rates {
	if burst == 0 {
		burst = max(1, int(math.Ceil(2*perSecond)))
	}
	limiters, _ := lru.New[string, *rate.Limiter](limitersCached) // fails only for a size below 1
	return &rates{limit: rate.Limit(perSecond), burst: burst, now: now, limiters: limiters}
}

// wait is how long until the bucket of a key or address has a token.
func (r *rates) wait(id string) time.Duration {
	limiter, ok := r.limiters.Get(id)
	if !ok || r.limit <= 0 {
		return 0
	}
	missing := max(0, 1-limiter.TokensAt(r.now()))
	return time.Duration(missing / float64(r.limit) * float64(time.Second))
}

// take counts a request of a key. KindTooFast: the key has to wait for RetryAfter.
func (r *rates) take(keyID string) error {
	if r.limit <= 0 {
		return nil
	}
	limiter, ok := r.limiters.Get(keyID)
	if !ok {
		limiter = rate.NewLimiter(r.limit, r.burst)
		if other, exists, _ := r.limiters.PeekOrAdd(keyID, limiter); exists {
			limiter = other
		}
	}
	now := r.now()
	reservation := limiter.ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	reservation.CancelAt(now)
	return &memory.Error{
		Kind:       memory.KindTooFast,
		Limit:      "api.rate_limit",
		Err:        errors.New("this key has sent too many requests: wait for the seconds in Retry-After"),
		RetryAfter: wait,
	}
}
