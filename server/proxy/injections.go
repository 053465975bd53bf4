package proxy

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// injectionsKept is the number of users' messages whose texts are kept, each of up to proxy.max_tokens.
	injectionsKept = 1000
	// injectionAge bounds for how long a text is injected again after its memories have been deleted or superseded.
	injectionAge = 2 * time.Minute
)

// Injections keep the texts that were injected for users' messages. Requests that continue a message with the answers
// of tools get the same text, so that the provider's prompt cache serves them.
type Injections struct {
	mu     sync.Mutex
	texts  *simplelru.LRU[[sha256.Size]byte, injection]
	purges int // so that a text that was asked for before a purge is not kept after it
}

// injection is a text and when the memory was asked for it.
type injection struct {
	known known
	at    time.Time
}

// NewInjections returns an empty cache.
func NewInjections() *Injections {
	cache, _ := simplelru.NewLRU[[sha256.Size]byte, injection](injectionsKept, nil) // fails only for a size below 1
	return &Injections{texts: cache}
}

// Purge removes all texts. Erasing a user needs it, since texts cannot be found by user.
func (i *Injections) Purge() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.texts.Purge()
	i.purges++
}

// find returns a text that is not too old, and the number of purges so far, which keep takes.
func (i *Injections) find(id [sha256.Size]byte, now time.Time) (found known, ok bool, purges int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	kept, ok := i.texts.Get(id)
	if ok && now.Sub(kept.at) >= injectionAge {
		i.texts.Remove(id)
		ok = false
	}
	return kept.known, ok, i.purges
}

// keep keeps a text that the memory was asked for at an instant, unless there was a purge in the meantime.
func (i *Injections) keep(id [sha256.Size]byte, text known, at time.Time, purges int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if purges == i.purges {
		i.texts.Add(id, injection{text, at})
	}
}
