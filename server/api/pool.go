package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// PoolParts are the parts behind the routes of the shared pool.
type PoolParts struct {
	Keeper PoolKeeper
	Reader PoolReader
}

// PoolKeeper changes the shared pool of an app; package ingest implements it.
type PoolKeeper interface {
	Contribute(ctx context.Context, c ingest.Contribution) (shared db.PooledMemory, fresh bool, err error)
	Retract(ctx context.Context, appID string, ids []string) error
}

// PoolReader reads the shared pool of an app; db.Pool implements it.
type PoolReader interface {
	ListPooled(ctx context.Context, f db.PoolFilter) ([]db.PooledMemory, error)
	OpenPooled(ctx context.Context, appID string, ids []string) (map[string]memory.Pooled, error)
}

type poolHandlers struct {
	PoolParts
	quotas *quotas
	slots  *frame.Slots
	modes  ModeKeeper
}

func (h poolHandlers) register(r *frame.Routes) {
	r.Add("POST /v1/pool", memory.RoleWrite,
		poolFor(memory.PoolWrite, h.slots.Bound(h.quotas.bound(frame.WithBody(h.promote), memories))))
	r.Add("GET /v1/pool", memory.RoleRead, poolFor(memory.PoolRead, frame.List[
		db.PoolFilter, db.PooledMemory, pooledBody]{
		Name: "memories",
		Filter: func(r *frame.Request, p frame.Page) db.PoolFilter {
			return db.PoolFilter{
				AppID: r.Key.AppID, UserID: r.QueryID("contributor"), Memory: memoryIn(r), Before: p.Before, Limit: p.Limit,
			}
		},
		Find:     h.Reader.ListPooled,
		Body:     pooledOf,
		Position: func(p db.PooledMemory) db.Position { return db.Position{At: p.PromotedAt, ID: p.Pooled.ID} },
	}.Handle))
	r.Add("DELETE /v1/pool/:id", memory.RoleWrite, poolFor(memory.PoolWrite, h.withdraw))
}

// memoryIn reads the id of a contributor's memory from the query.
func memoryIn(r *frame.Request) string {
	id := r.Query.Get("memory_id")
	switch {
	case id != "" && !memory.IsID(id):
		r.Note("query.memory_id", "is not the id of a memory")
	case id != "" && r.Query.Get("contributor") == "":
		r.Note("query.contributor", "is needed with memory_id: name the user of the memory")
	}
	return id
}

// poolFor makes a handler that refuses keys which may do less with the pool.
func poolFor(access memory.PoolAccess, h frame.Handler) frame.Handler {
	return func(ctx context.Context, r *frame.Request) (any, error) {
		if err := needsPool(r, access); err != nil {
			return nil, err
		}
		return h(ctx, r)
	}
}

func needsPool(r *frame.Request, access memory.PoolAccess) error {
	held := r.Key.PoolAccess()
	if slices.Index(memory.PoolAccesses, held) >= slices.Index(memory.PoolAccesses, access) {
		return nil
	}
	return memory.Errorf(memory.KindForbidden, "this needs a key that may %s the shared pool, and the one sent may do: "+
		"%s; make one with `hippocampus key create --pool %s`", access, held, access)
}

// contributionBody says whose a memory of the pool is.
type contributionBody struct {
	UserID     string    `json:"user_id,omitempty"` // empty: it is not known any more
	AgentID    string    `json:"agent_id,omitempty"`
	MemoryID   string    `json:"memory_id,omitempty"`
	PromotedAt time.Time `json:"promoted_at"`
	KeyID      string    `json:"key_id,omitempty"`
}

func contributionOf(p memory.Pooled) *contributionBody {
	body := contributionBody{
		UserID: p.UserID, AgentID: p.AgentID, MemoryID: p.MemoryID, PromotedAt: p.PromotedAt, KeyID: p.KeyID,
	}
	if p.IsOrphan() {
		body.UserID = ""
	}
	return &body
}

type pooledBody struct {
	ID         string            `json:"id"`
	AgentID    string            `json:"agent_id,omitempty"`
	Content    string            `json:"content"`
	Type       memory.Type       `json:"type"`
	Domain     memory.Domain     `json:"domain"`
	Tags       []string          `json:"tags"`
	Importance float64           `json:"importance"`
	CreatedAt  time.Time         `json:"created_at"`
	ExpiresAt  time.Time         `json:"expires_at,omitzero"`
	Pool       *contributionBody `json:"pool"`
}

func pooledOf(p db.PooledMemory) pooledBody {
	m := p.Memory
	return pooledBody{
		ID: m.ID, AgentID: m.AgentID, Content: m.Content, Type: m.Type, Domain: m.Domain, Tags: frame.NotNil(m.Tags),
		Importance: m.Importance, CreatedAt: m.CreatedAt, ExpiresAt: m.ExpiresAt, Pool: contributionOf(p.Pooled),
	}
}

type poolRequest struct {
	UserID   string `json:"user_id"`
	MemoryID string `json:"memory_id"`
	AgentID  string `json:"agent_id"`
}

func (h poolHandlers) promote(ctx context.Context, r *frame.Request, body poolRequest) (any, error) {
	owner := r.BodyOwner(body.UserID)
	r.OptionalIDs("", body.AgentID, "")
	if err := r.Err(); err != nil {
		return nil, err
	}
	if err := admitWrite(ctx, r, h.modes, owner, ""); err != nil {
		return nil, err
	}
	shared, fresh, err := h.Keeper.Contribute(ctx, ingest.Contribution{
		Owner: owner, MemoryID: body.MemoryID, AgentID: body.AgentID, KeyID: r.Key.ID,
	})
	status := http.StatusOK
	if fresh {
		status = http.StatusCreated
	}
	return frame.WithStatus(status, pooledOf(shared)), err
}

// withdraw answers for a memory that is not open as for one that does not exist. A key of one user withdraws what this
// user has contributed.
func (h poolHandlers) withdraw(ctx context.Context, r *frame.Request) (any, error) {
	id, err := r.PathID()
	if err != nil {
		return nil, err
	}
	open, err := h.Reader.OpenPooled(ctx, r.Key.AppID, []string{id})
	if err != nil {
		return nil, err
	}
	entry, found := open[id]
	if !found || r.Key.UserID != "" && entry.UserID != r.Key.UserID {
		return nil, memory.Errorf(memory.KindNotFound,
			"the pool has no memory %q that the key may withdraw: see GET /v1/pool", id)
	}
	if err := h.Keeper.Retract(ctx, r.Key.AppID, []string{id}); err != nil {
		return nil, err
	}
	return contributionOf(entry), nil
}

// scopeApp is the scope of a recall that also searches the pool.
const scopeApp = "app"

// checkScope refuses a recall with the pool that the key may not read, or that does not go with its other fields.
func (b recallRequest) checkScope(r *frame.Request) error {
	if b.Scope != scopeApp {
		return nil
	}
	if b.Group {
		r.Note("scope", "app does not go with group")
	}
	if err := r.Err(); err != nil {
		return err
	}
	return needsPool(r, memory.PoolRead)
}
