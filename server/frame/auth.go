package frame

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"hippocampus/internal/memory"
)

// DevApp is the app of every request if authentication is off.
const DevApp = "default"

// KeyFinder finds keys; db.Keys implements it.
type KeyFinder interface {
	KeyByHash(ctx context.Context, hash string) (memory.Key, error)
}

// NewSecret returns a new API key: "hp_" and 32 random bytes in hex.
func NewSecret() string {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails: see crypto/rand
	return "hp_" + hex.EncodeToString(secret[:])
}

// HashKey is the SHA-256 of an API key in hex, which is stored in its place. The
// secrets are long and random, so a salt or a slow hash would add nothing.
func HashKey(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

const (
	keysCached  = 10_000
	maxKeyBytes = 512
)

// keyring finds keys by their secrets and caches them for ttl. It does not cache
// unknown secrets, so that guesses evict no key.
type keyring struct {
	finder KeyFinder
	ttl    time.Duration
	now    func() time.Time
	cache  *lru.Cache[string, cachedKey] // by hash
}

type cachedKey struct {
	key   memory.Key
	until time.Time
}

func newKeyring(finder KeyFinder, ttl time.Duration, now func() time.Time) *keyring {
	cache, _ := lru.New[string, cachedKey](keysCached) // fails only for a size below 1
	return &keyring{finder: finder, ttl: ttl, now: now, cache: cache}
}

// key returns the valid key of a secret, or an error of KindUnauthorized.
func (k *keyring) key(ctx context.Context, secret string) (memory.Key, error) {
	if len(secret) > maxKeyBytes {
		return memory.Key{}, memory.Errorf(memory.KindUnauthorized,
			"the API key is longer than any key: check that it was copied alone")
	}
	hash, now := HashKey(secret), k.now()
	cached, ok := k.cache.Get(hash)
	if !ok || !now.Before(cached.until) {
		key, err := k.finder.KeyByHash(ctx, hash)
		switch {
		case memory.IsKind(err, memory.KindNotFound):
			return memory.Key{}, memory.Errorf(memory.KindUnauthorized,
				"the API key is unknown: check it, or make one with `hippocampus key create`")
		case err != nil:
			return memory.Key{}, err
		}
		cached = cachedKey{key, now.Add(k.ttl)}
		k.cache.Add(hash, cached)
	}
	if !cached.key.RevokedAt.IsZero() && !now.Before(cached.key.RevokedAt) {
		return memory.Key{}, memory.Errorf(memory.KindUnauthorized,
			"the API key has been revoked: make another with `hippocampus key create`")
	}
	return cached.key, nil
}

// knows reports whether a secret was that of a valid key when it was read last.
func (k *keyring) knows(secret string) bool {
	if len(secret) > maxKeyBytes {
		return false
	}
	cached, ok := k.cache.Peek(HashKey(secret))
	return ok && cached.key.RevokedAt.IsZero()
}

// secretOf returns the API key that a request carries. Clients of mem0 send the scheme Token.
func secretOf(r *http.Request) (string, error) {
	header := r.Header.Get("Authorization")
	if header == "" {
		if secret := r.Header.Get("X-API-Key"); secret != "" {
			return secret, nil
		}
		return "", memory.Errorf(memory.KindUnauthorized,
			"no API key: send `Authorization: Bearer KEY` or `X-API-Key: KEY`")
	}
	scheme, secret, _ := strings.Cut(header, " ")
	secret = strings.TrimSpace(secret)
	switch {
	case !strings.EqualFold(scheme, "Bearer") && !strings.EqualFold(scheme, "Token"):
		return "", memory.Errorf(memory.KindUnauthorized, "the Authorization header is not of the form `Bearer KEY`")
	case secret == "":
		return "", memory.Errorf(memory.KindUnauthorized,
			"the Authorization header has no key: was a variable such as HIPPOCAMPUS_KEY set before the request was sent?")
	}
	return secret, nil
}

// authenticate finds the key of a request.
func (s *Server) authenticate(ctx context.Context, r *Request) error {
	if key, ok := KeyOf(ctx); ok {
		r.Key = key
		return nil
	}
	if s.dev {
		if !isLoopback(r.Request().Host) {
			return memory.Errorf(memory.KindForbidden, "with --dev the server answers only requests to localhost or a "+
				"loopback address, so that no page of another site reaches it: use one, or start it without --dev")
		}
		r.Key = memory.Key{ID: "dev", AppID: DevApp, Role: memory.RoleOperator}
		return nil
	}
	var err error
	r.Key, err = s.authenticated(ctx, r)
	return err
}

// isLoopback reports whether the host of a request, with or without a port, is this machine. Browsers send the
// name of the page's site, also if that site has pointed its name to 127.0.0.1.
func isLoopback(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = strings.Trim(hostPort, "[]")
	}
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && address.Unmap().IsLoopback()
}

// admit authenticates a request of a route and checks the role, the app and the rate of its key.
func (s *Server) admit(ctx context.Context, r *Request, rt Route) error {
	if err := s.authenticate(ctx, r); err != nil {
		return err
	}
	r.Set(callerKey, r.Key)
	switch {
	case !r.Key.Role.Includes(rt.Role):
		return NeedsRole(rt.Role, r.Key)
	case r.Key.AppID == "" && !rt.ServerWide:
		return memory.Errorf(memory.KindForbidden, "this needs a key of an app, and the key that was sent is the "+
			"operator's, which belongs to no app: make one with `hippocampus key create --app APP --role %s`", rt.Role)
	}
	if _, ok := KeyOf(ctx); ok {
		return nil // the request of the mount was counted
	}
	return s.rates.take(r.Key.ID)
}

// whileValid returns a context that ends when the key of a request is revoked, with an error of
// KindUnauthorized as its cause. It looks for that at intervals of the time that a key is cached. The
// caller must call end.
func (s *Server) whileValid(ctx context.Context, r *Request) (valid context.Context, end func()) {
	valid, cancel := context.WithCancelCause(ctx)
	secret, err := secretOf(r.Request())
	if s.dev || err != nil {
		return valid, func() { cancel(nil) }
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(s.keys.ttl)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				if _, err := s.keys.key(valid, secret); memory.IsKind(err, memory.KindUnauthorized) {
					cancel(err)
				}
			case <-valid.Done():
				return
			}
		}
	}()
	return valid, func() { cancel(nil); <-ended }
}

// Revoked returns the error that ended a context of whileValid, if the key was revoked.
func Revoked(valid context.Context) error {
	if err := context.Cause(valid); memory.IsKind(err, memory.KindUnauthorized) {
		return err
	}
	return nil
}

// NeedsRole is the error of a request whose key has too weak a role.
func NeedsRole(needed memory.Role, key memory.Key) error {
	why := ""
	if needed == memory.RoleOperator {
		why = ", since it concerns all apps: make one with `hippocampus key create --role operator`"
	}
	return memory.Errorf(memory.KindForbidden,
		"this needs a key of role %s%s; the one sent has role %s", needed, why, key.Role)
}

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
