package memory

import "time"

// PoolUser holds the memories of the shared pool of an app, as if they were a user's. It is the id of no user: CheckID
// refuses it.
const PoolUser = "hippocampus:pool"

// PoolOf returns the owner of the memories in the shared pool of an app.
func PoolOf(appID string) Owner { return Owner{AppID: appID, UserID: PoolUser} }

// IsPool reports whether the owner is the shared pool of an app.
func (o Owner) IsPool() bool { return o.UserID == PoolUser }

// CheckUser is CheckID for the user of a stored memory, which may be that of a pool.
func CheckUser(id string) string {
	if id == PoolUser {
		return ""
	}
	return CheckID(id, false)
}

// Pooled says whose a memory of a shared pool is.
type Pooled struct {
	ID         string // of the memory in the pool
	Owner             // the contributor; the pool itself: the contributor is not known any more
	AgentID    string // of the memory that was copied; may be empty
	MemoryID   string // that was copied; empty: that is not known any more
	PromotedAt time.Time
	KeyID      string // of the request; empty: it had no key, or that is not known any more
}

// IsOrphan reports whether the contributor is not known any more.
func (p Pooled) IsOrphan() bool { return p.IsPool() }

// PoolAccess is what a key may do with the shared pool of its app.
type PoolAccess string

// What keys may do, the least first. The role of the key limits it further.
const (
	PoolNone  PoolAccess = "none"
	PoolRead  PoolAccess = "read"
	PoolWrite PoolAccess = "write" // also promote and withdraw
)

// PoolAccesses lists them all, the least first.
var PoolAccesses = []PoolAccess{PoolNone, PoolRead, PoolWrite}

// PoolAccess returns what a key may do with the pool: what it was made with, else all for a key of the whole app, and
// nothing for a key of one user.
func (k Key) PoolAccess() PoolAccess {
	switch {
	case k.Pool != "":
		return k.Pool
	case k.UserID != "":
		return PoolNone
	}
	return PoolWrite
}
