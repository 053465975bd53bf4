package exchange

import (
	"context"
	"errors"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// pooledLine says whose a memory of the shared pool is. The pool belongs to the app: an export of one user lacks it.
type pooledLine struct {
	ID         string    `json:"id"`
	UserID     string    `json:"user_id"`
	AgentID    string    `json:"agent_id,omitempty"`
	MemoryID   string    `json:"memory_id,omitempty"`
	PromotedAt time.Time `json:"promoted_at"`
	KeyID      string    `json:"key_id,omitempty"`
}

func pooledLineOf(p memory.Pooled) pooledLine {
	return pooledLine{
		ID: p.ID, UserID: p.UserID, AgentID: p.AgentID, MemoryID: p.MemoryID, PromotedAt: p.PromotedAt, KeyID: p.KeyID,
	}
}

func (l *pooledLine) kind() Kind   { return Pool }
func (l *pooledLine) user() string { return memory.PoolUser }

func (l *pooledLine) check(f *faults) {
	f.id("pooled.id", l.ID)
	f.note("pooled.user_id", memory.CheckUser(l.UserID))
	f.note("pooled.agent_id", memory.CheckID(l.AgentID, true))
	f.optionalID("pooled.memory_id", l.MemoryID)
	f.time("pooled.promoted_at", l.PromotedAt)
	f.note("pooled.key_id", memory.CheckID(l.KeyID, true))
}

// restore stores the entry after its memory. If the contributor was erased during the import, the memory is forgotten.
func (l *pooledLine) restore(ctx context.Context, i *importing, tx db.UserTx) (fresh bool, err error) {
	found, err := tx.Memories(ctx, []string{l.ID})
	if err == nil && len(found) == 0 {
		err = memory.Errorf(memory.KindNotFound, "memory %s of the pool is not here", l.ID)
	}
	if err != nil {
		return false, err
	}
	held, fresh, err := tx.RestorePooled(ctx, memory.Pooled{
		ID: l.ID, Owner: memory.Owner{AppID: i.appID, UserID: l.UserID}, AgentID: l.AgentID, MemoryID: l.MemoryID,
		PromotedAt: memory.Instant(l.PromotedAt), KeyID: l.KeyID,
	}, i.since)
	switch m := found[0]; {
	case errors.Is(err, db.ErrErased) && m.Status == memory.Active:
		m.Status, m.Revision = memory.Forgotten, m.Revision+1
		return false, tx.Update(ctx, m)
	case err == nil && !fresh:
		return false, orDifference(nil, "the entry of memory "+l.ID, *l, pooledLineOf(held))
	}
	return fresh, err
}

func (x *exporting) pooled(ctx context.Context) error {
	if x.what.UserID != "" {
		return nil
	}
	return each(pageRows, func(last *memory.Pooled) ([]memory.Pooled, error) {
		return x.records.ExportPooled(ctx, x.extent(), last)
	}, func(p memory.Pooled) error { return x.write(Pool, "pooled", pooledLineOf(p)) })
}
