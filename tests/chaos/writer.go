package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// writer sends requests for its users, one after the other, so that the ledger has the
// order in which they take effect.
type writer struct {
	users    []string
	erasing  map[string]bool // users whose erasure is not acknowledged yet
	x        *Expectation    // of its users
	random   *rand.Rand
	client   *Client
	ledger   *Ledger
	limiter  *rate.Limiter // shared by all writers
	names    int
	stopping context.Context // no further request is begun when it is done
}

// action sends the requests of one step for a user.
type action struct {
	weight int
	do     func(w *writer, ctx context.Context, user string)
}

var actions = []action{
	{200, (*writer).writeMemory}, {60, (*writer).writeBatch}, {60, (*writer).importMemories},
	{120, (*writer).updateMemory}, {80, (*writer).forgetMemory}, {40, (*writer).forgetMany},
	{70, (*writer).restoreMemory}, {60, (*writer).readMemory}, {100, (*writer).recall},
	{250, (*writer).turn}, {25, (*writer).endConversation}, {12, (*writer).deleteConversation},
	{80, (*writer).putFact}, {15, (*writer).endFact},
	{60, (*writer).createFile}, {50, (*writer).editFile}, {20, (*writer).deleteFile},
	{50, (*writer).addBullet}, {25, (*writer).removeBullet}, {50, (*writer).pin}, {40, (*writer).relate},
	{40, (*writer).contribute},
	{40, (*writer).publish}, {10, (*writer).retire}, {80, (*writer).countOutcome},
	{8, (*writer).erase},
	{4, (*writer).reflect}, {4, (*writer).forgetFaded}, {4, (*writer).compress}, {4, (*writer).consolidate},
	{2, (*writer).repair}, {1, (*writer).rebuild},
}

// work sends requests until the writer is to stop.
func (w *writer) work(ctx context.Context) {
	total := 0
	for _, a := range actions {
		total += a.weight
	}
	for w.stopping.Err() == nil {
		user := w.users[w.random.IntN(len(w.users))]
		if w.erasing[user] {
			w.erase(ctx, user)
			continue
		}
		chosen := w.random.IntN(total)
		for _, a := range actions {
			if chosen -= a.weight; chosen < 0 {
				a.do(w, ctx, user)
				break
			}
		}
	}
}

// request is one request with an entry for each object that it concerns.
type request struct {
	method, path string
	body         any
	entries      []Entry
	repeatable   bool // repeating it changes nothing
	outcomes     func(a answer) []Entry
}

const (
	repeats   = 10 // of a request of unknown outcome
	repeatGap = time.Second
)

// send sends a request. It repeats a repeatable request while the outcome is unknown.
func (w *writer) send(ctx context.Context, r request) answer {
	unknown := false
	for attempt := 0; ; attempt++ {
		if w.stopping.Err() != nil || w.limiter.Wait(w.stopping) != nil {
			return answer{}
		}
		at := time.Now()
		a := w.client.Do(ctx, r.method, r.path, r.body)
		w.record(r, a, at, attempt)
		unknown = unknown || a.outcome() == Unknown
		settled := a.outcome() == Acknowledged || a.outcome() == Refused && a.status != 0
		if settled || !unknown || !r.repeatable || attempt == repeats {
			return a
		}
		time.Sleep(repeatGap)
	}
}

// expectedRefusals are statuses of refused requests that are valid: the server does not
// listen (no status), the user is being erased, a file has changed, or there are too many requests.
var expectedRefusals = []int{0, http.StatusConflict, http.StatusPreconditionFailed, http.StatusTooManyRequests}

// record writes the entries of a request. A repeated request may be refused because the
// first one took effect.
func (w *writer) record(r request, a answer, at time.Time, attempt int) {
	entries := r.entries
	if r.outcomes != nil && a.outcome() == Acknowledged {
		entries = r.outcomes(a)
	}
	for _, e := range entries {
		e.At, e.Status, e.Error = at, a.status, a.text()
		if e.Outcome == "" {
			e.Outcome = a.outcome()
		}
		if attempt > 0 && e.Outcome == Refused && a.status != 0 && a.status != http.StatusTooManyRequests {
			e.Outcome = Unknown
		}
		e = w.ledger.Record(e)
		if e.Outcome == Refused && !slices.Contains(expectedRefusals, a.status) {
			w.ledger.Blame(Violation{
				What: fmt.Sprintf("%s %s is refused, which is valid", r.method, r.path), Entry: e, Found: string(a.body),
			})
		}
		w.x.Apply(e)
	}
}

// name returns a word that occurs in no other text.
func (w *writer) name(what, user string) string {
	w.names++
	return fmt.Sprintf("%s%dof%s", what, w.names, user)
}

// pick returns one of a user's objects of these kinds; nil if there is no such object.
func (w *writer) pick(user string, wanted func(*object) bool, kinds ...Kind) *object {
	var chosen *object
	seen := 0
	for _, o := range w.x.byUser[user] {
		for _, kind := range kinds {
			if o.kind == kind && o.certain() && !o.erased && wanted(o) {
				seen++
				if w.random.IntN(seen) == 0 {
					chosen = o
				}
			}
		}
	}
	return chosen
}

var words = strings.Fields("amber basket candle drawer eagle feather garden hammer island jacket kettle ladder " +
	"mirror needle orchid pepper quartz ribbon saddle teapot umbrella velvet window yarn zipper bottle carpet engine " +
	"fiddle goblet helmet ivory lantern magnet napkin oyster pencil rocket spoon trumpet violin wallet anchor bridge")

// some returns a few random words.
func (w *writer) some() string {
	var chosen []string
	for range 4 {
		chosen = append(chosen, words[w.random.IntN(len(words))])
	}
	return strings.Join(chosen, " ")
}
