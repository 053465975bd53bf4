package frame

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"hippocampus/internal/memory"
)

// KeyFinder finds keys; db.Keys implements it.
type KeyFinder interface {
	KeyByHash(ctx context.Context, hash string) (memory.Key, error)
}

const (
	secretPrefix = "hp_"
	secretBytes  = 32
)

// NewSecret returns a new API key: "hp_" and 32 random bytes in hex.
func NewSecret() string {
	var secret [secretBytes]byte
	_, _ = rand.Read(secret[:]) // never fails: see crypto/rand
	return secretPrefix + hex.EncodeToString(secret[:])
}

// isGenerated reports whether a secret has the form of NewSecret, so that it cannot be guessed.
func isGenerated(secret string) bool {
	digits, ok := strings.CutPrefix(secret, secretPrefix)
	_, err := hex.DecodeString(digits)
	return ok && err == nil && len(digits) == hex.EncodedLen(secretBytes)
}

// HashKey returns the SHA-256 of an API key in hex, which is stored instead of the key. The
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

// knows reports whether a secret was that of a valid key when the key was last read.
func (k *keyring) knows(secret string) bool {
	if len(secret) > maxKeyBytes {
		return false
	}
	cached, ok := k.cache.Peek(HashKey(secret))
	return ok && cached.key.RevokedAt.IsZero()
}
