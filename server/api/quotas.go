package api

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// Quotas bound what each app keeps; 0: unlimited.
type Quotas struct {
	Default db.Usage
	Apps    map[string]db.Usage // of apps with quotas of their own
	Counter UsageCounter
}

// UsageCounter counts what an app keeps; db.Store implements it.
type UsageCounter interface {
	Usage(ctx context.Context, appID string, quotas db.Usage) (db.Usage, error)
	CountActive(ctx context.Context, owner memory.Owner) (int, error)
}

const (
	usageAge   = 5 * time.Second // greatest age of a count that decides
	usageShare = 100             // a count is not repeated for this many times its duration
	quotaRetry = time.Minute     // how long a client is asked to wait
)

// quotas refuses writes of apps that have used up a quota:
//
//	write -> count of the app, up to 5 s old, and the writes that this process has accepted since -> handler, or 429
//
// Several servers may together exceed a quota by the writes that they accept between two counts.
type quotas struct {
	Quotas
	now  func() time.Time
	mu   sync.Mutex
	apps map[string]*usage
}

// usage is what an app keeps as of the latest count.
type usage struct {
	mu   sync.Mutex
	next time.Time // when to count again
	db.Usage
	known map[string]bool // users that have memories, or were accepted since
}

func newQuotas(q Quotas, now func() time.Time) *quotas {
	return &quotas{Quotas: q, now: now, apps: map[string]*usage{}}
}

// bound makes a handler that refuses writes beyond a quota with KindTooFast.
func (q *quotas) bound(h frame.Handler, adds adds) frame.Handler {
	return func(ctx context.Context, r *frame.Request) (any, error) {
		if err := q.admit(ctx, r.Key.AppID, r.Body, adds); err != nil {
			return nil, err
		}
		return h(ctx, r)
	}
}

// admitTurn is admit for a turn, except for one that the app already has: a client that repeats such a turn gets its
// answer.
func (q *quotas) admitTurn(ctx context.Context, r *frame.Request, isStored func() bool) error {
	err := q.admit(ctx, r.Key.AppID, r.Body, memories)
	if err != nil && isStored() {
		return nil
	}
	return err
}

// addition is the most that a write may add to the usage of an app.
type addition struct {
	db.Usage
	users []string // who may have no memories yet
}

// adds returns the addition of a body. The handler refuses a body that cannot be read.
type adds func(body []byte) addition

// written has the parts of a body that quotas count. Each message may become a memory.
type written struct {
	UserID   string            `json:"user_id"`
	Content  string            `json:"content"`
	Value    json.RawMessage   `json:"value"` // of a timeline fact
	Memories []written         `json:"memories"`
	Messages []json.RawMessage `json:"messages"`
}

// memories is the addition of a body that writes memories.
func memories(body []byte) addition {
	var w written
	_ = json.Unmarshal(body, &w)
	return w.addition()
}

func (w written) addition() addition {
	a := addition{Usage: db.Usage{Memories: max(1, len(w.Memories)+len(w.Messages)), Bytes: len(w.Content) + len(w.Value)}}
	a.Versions = a.Memories
	if w.UserID != "" {
		a.users = append(a.users, w.UserID)
	}
	for _, m := range w.Memories {
		a.Bytes += len(m.Content)
		a.users = append(a.users, m.UserID)
	}
	for _, message := range w.Messages {
		a.Bytes += len(message)
	}
	return a
}

// change is the addition of a body that changes a memory.
func change(body []byte) addition {
	var w written
	_ = json.Unmarshal(body, &w)
	return addition{Usage: db.Usage{Bytes: len(w.Content), Versions: 1}}
}

// restored is the addition of a body that names memories to restore.
func restored(body []byte) addition {
	var many restoreMemoriesRequest
	_ = json.Unmarshal(body, &many)
	return addition{Usage: db.Usage{Memories: len(many.IDs), Versions: len(many.IDs)}}
}

// always returns the same addition for every body.
func always(u db.Usage) adds { return func([]byte) addition { return addition{Usage: u} } }

// quota is one bound, with the usage that it bounds.
type quota struct {
	name              string
	bound, used, adds int
	unit, remedy      string
}

// admit counts a write of an app, or refuses it.
func (q *quotas) admit(ctx context.Context, appID string, body []byte, adds adds) error {
	bounds, own := q.Apps[appID]
	prefix := "quotas.apps." + appID + "."
	if !own {
		bounds = q.Default
		prefix = "quotas."
	}
	if bounds == (db.Usage{}) {
		return nil
	}
	a := adds(body)
	q.mu.Lock()
	u := q.apps[appID]
	if u == nil {
		u = &usage{}
		q.apps[appID] = u
	}
	q.mu.Unlock()

	u.mu.Lock()
	defer u.mu.Unlock()
	if err := q.count(ctx, appID, u, bounds); err != nil {
		return err
	}
	fresh, err := q.newUsers(ctx, appID, u, a.users, bounds)
	if err != nil {
		return err
	}
	for _, of := range []quota{
		{
			name: "users", bound: bounds.Users, used: u.Users, adds: len(fresh),
			unit: "users with memories", remedy: "Erase users",
		},
		{
			name: "memories", bound: bounds.Memories, used: u.Memories, adds: a.Memories,
			unit: "active memories", remedy: "Forget memories",
		},
		{
			name: "bytes", bound: bounds.Bytes, used: u.Bytes, adds: a.Bytes,
			unit: "bytes of memories", remedy: "Erase users, or forget memories and wait until they are purged",
		},
		{
			name: "versions", bound: bounds.Versions, used: u.Versions, adds: a.Versions,
			unit: "entries of histories and versions of instructions", remedy: "Erase users",
		},
		{
			name: "webhooks", bound: bounds.Webhooks, used: u.Webhooks, adds: a.Webhooks,
			unit: "webhooks", remedy: "Delete webhooks",
		},
	} {
		if of.bound > 0 && of.adds > 0 && of.used+of.adds > of.bound {
			return of.exceeded(prefix)
		}
	}
	u.Users += len(fresh)
	u.Memories += a.Memories
	u.Bytes += a.Bytes
	u.Versions += a.Versions
	u.Webhooks += a.Webhooks
	for _, user := range fresh {
		u.known[user] = true
	}
	return nil
}

// newUsers returns the users without memories among users, if the number of users is bounded.
func (q *quotas) newUsers(
	ctx context.Context, appID string, u *usage, users []string, bounds db.Usage,
) (fresh []string, err error) {
	if bounds.Users == 0 {
		return nil, nil
	}
	for _, user := range users {
		if u.known[user] || slices.Contains(fresh, user) {
			continue
		}
		n, err := q.Counter.CountActive(ctx, memory.Owner{AppID: appID, UserID: user})
		if err != nil {
			return nil, err
		}
		if n > 0 {
			u.known[user] = true
		} else {
			fresh = append(fresh, user)
		}
	}
	return fresh, nil
}

// count counts what the app keeps, unless that was done lately.
func (q *quotas) count(ctx context.Context, appID string, u *usage, bounds db.Usage) error {
	begin := q.now()
	if u.known != nil && begin.Before(u.next) {
		return nil
	}
	counted, err := q.Counter.Usage(ctx, appID, bounds)
	if err != nil {
		return err
	}
	u.Usage = counted
	u.known = map[string]bool{}
	end := q.now()
	u.next = end.Add(max(usageAge, usageShare*end.Sub(begin)))
	return nil
}

func (of quota) exceeded(prefix string) error {
	return &memory.Error{
		Kind: memory.KindTooFast, Limit: "quotas." + of.name, RetryAfter: quotaRetry,
		Err: fmt.Errorf("the app's quota is %d %s: it has %d, and this may add %d. %s, or ask the operator of the server "+
			"to raise %s", of.bound, of.unit, of.used, of.adds, of.remedy, prefix+of.name),
	}
}
