package sqlstore

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const pooledColumns = `p.id, p.app_id, p.user_id, p.agent_id, p.memory_id, p.promoted_at, p.key_id`

func pooledFields(p *memory.Pooled) []any {
	return []any{&p.ID, &p.AppID, &p.UserID, &p.AgentID, (*ID)(&p.MemoryID), &p.PromotedAt, &p.KeyID}
}

// inPool chooses the entries p with their memories m.
const inPool = ` FROM pooled AS p JOIN agent_memories AS m ON m.id = p.id AND {|+}m.app_id = p.app_id
		AND {|+}m.user_id = '` + memory.PoolUser + `'`

// openPooled chooses the open entries. Conditions of p must follow.
const openPooled = inPool + ` AND {|+}m.status = 'active'
	WHERE NOT EXISTS (SELECT 1 FROM agent_memories AS o WHERE o.id = p.memory_id AND {|+}o.app_id = p.app_id
		AND {|+}o.user_id = p.user_id AND {|+}o.status = 'forgotten' AND NOT o.faded) AND `

func (s *Store) ListPooled(ctx context.Context, f db.PoolFilter) ([]db.PooledMemory, error) {
	var where Conditions
	where.Add(`p.app_id = ?`, f.AppID)
	if f.UserID != "" {
		where.Add(`p.user_id = ?`, f.UserID)
	}
	if f.Memory != "" {
		where.Add(`p.memory_id = ?`, f.Memory)
	}
	if f.Before != nil {
		where.Add(`(p.promoted_at, p.id) < (?, ?)`, f.Before.At, f.Before.ID)
	}
	const doing = "list the pool"
	found, err := page(ctx, s.conn, pooledFields, `SELECT `+pooledColumns+openPooled, where,
		`p.promoted_at DESC, p.id DESC`, f.Limit)
	if err != nil || len(found) == 0 {
		return nil, s.fault(err, doing)
	}
	ids := make([]string, len(found))
	for i, p := range found {
		ids[i] = p.ID
	}
	memories, err := collect(ctx, s.conn, memoryFields, `SELECT `+memoryColumns+` FROM agent_memories
		WHERE id = ANY($1::uuid[]) AND {|+}app_id = $2 AND {|+}user_id = $3`, ids, f.AppID, memory.PoolUser)
	byID := make(map[string]memory.Memory, len(memories))
	for _, m := range memories {
		byID[m.ID] = m
	}
	list := make([]db.PooledMemory, len(found))
	for i, p := range found {
		list[i] = db.PooledMemory{Pooled: p, Memory: byID[p.ID]}
	}
	return list, s.fault(err, doing)
}

func (s *Store) OpenPooled(ctx context.Context, appID string, ids []string) (map[string]memory.Pooled, error) {
	found, err := collect(ctx, s.conn, pooledFields,
		`SELECT `+pooledColumns+openPooled+`p.id = ANY($1::uuid[]) AND {|+}p.app_id = $2`, validIDs(ids), appID)
	open := make(map[string]memory.Pooled, len(found))
	for _, p := range found {
		open[p.ID] = p
	}
	return open, s.fault(err, "read whose memories of the pool are")
}

const selectPooled = `SELECT ` + pooledColumns + ` FROM pooled AS p WHERE `

func (s *Store) CopiesOf(ctx context.Context, owner memory.Owner, memories []string) ([]memory.Pooled, error) {
	found, err := collect(ctx, s.conn, pooledFields, selectPooled+
		`p.app_id = $1 AND p.user_id = $2 AND p.memory_id = ANY($3::uuid[]) ORDER BY p.id`,
		owner.AppID, owner.UserID, validIDs(memories))
	return found, s.fault(err, "find the copies in the pool")
}

func (s *Store) ExportPooled(ctx context.Context, of db.Extent, after *memory.Pooled) ([]memory.Pooled, error) {
	var where Conditions
	where.Add(`p.app_id = ?`, of.AppID)
	if after != nil {
		where.Add(`(p.promoted_at, p.id) > (?, ?)`, after.PromotedAt, after.ID)
	}
	found, err := page(ctx, s.conn, pooledFields, `SELECT `+pooledColumns+inPool+` WHERE `, where,
		`p.promoted_at, p.id`, of.Limit)
	return found, s.fault(err, "export the pool")
}

// admitContributor returns an error if the contributor is being erased, or was since an instant. An erasure that begins
// waits for the end of the transaction.
func (u *UserTx) admitContributor(ctx context.Context, contributor memory.Owner, since time.Time) error {
	if contributor.IsPool() {
		return nil
	}
	if err := u.lock(ctx, rowcodec.OwnerLock(contributor)); err != nil {
		return err
	}
	e, ok, err := erasure(ctx, u.conn, contributor, "")
	switch {
	case err != nil || !ok:
	case e.DoneAt.IsZero():
		err = db.ErrErasing
	case e.Into == "" && e.DoneAt.After(since):
		err = db.ErrErased
	}
	return err
}

func (u *UserTx) AddPooled(ctx context.Context, p memory.Pooled) (held memory.Pooled, fresh bool, err error) {
	const doing = "add to the pool"
	if err := u.admitContributor(ctx, p.Owner, p.PromotedAt); err != nil {
		return p, false, u.fault(err, doing)
	}
	held, found, err := first(ctx, u.conn, pooledFields, `SELECT `+pooledColumns+` FROM pooled AS p
		JOIN agent_memories AS m ON m.id = p.id AND {|+}m.app_id = $1 AND {|+}m.user_id = $4 AND {|+}m.status = 'active'
		WHERE p.app_id = $1 AND p.user_id = $2 AND p.memory_id = $3`, p.AppID, p.UserID, p.MemoryID, memory.PoolUser)
	if err != nil || found {
		return held, false, u.fault(err, doing)
	}
	active, _, err := first(ctx, u.conn, only[bool], `SELECT EXISTS (SELECT 1 FROM agent_memories
		WHERE id = $3 AND {|+}app_id = $1 AND {|+}user_id = $2 AND {|+}status = 'active')`, p.AppID, p.UserID, p.MemoryID)
	if err == nil && !active {
		err = memory.Errorf(memory.KindConflict, "the memory is not active any more: nothing was promoted")
	}
	if err == nil { // a withdrawn copy stays until it is purged
		_, err = u.exec(ctx, `UPDATE pooled SET memory_id = NULL WHERE app_id = $1 AND user_id = $2 AND memory_id = $3`,
			p.AppID, p.UserID, p.MemoryID)
	}
	if err == nil {
		err = u.insertPooled(ctx, p)
	}
	return p, true, u.fault(err, doing)
}

func (u *UserTx) insertPooled(ctx context.Context, p memory.Pooled) error {
	_, err := u.exec(ctx, `INSERT INTO pooled (id, app_id, user_id, agent_id, memory_id, promoted_at, key_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		p.ID, u.Owner.AppID, p.UserID, p.AgentID, nullID(p.MemoryID), p.PromotedAt, p.KeyID)
	return err
}

func (u *UserTx) RestorePooled(
	ctx context.Context, p memory.Pooled, since time.Time,
) (held memory.Pooled, fresh bool, err error) {
	const doing = "restore an entry of the pool"
	if err := u.admitContributor(ctx, p.Owner, since); err != nil {
		return p, false, u.fault(err, doing)
	}
	held, found, err := first(ctx, u.conn, pooledFields, selectPooled+`p.id = $1 AND {|+}p.app_id = $2`,
		p.ID, u.Owner.AppID)
	if err == nil && !found {
		held, err = p, u.insertPooled(ctx, p)
	}
	return held, !found, u.fault(err, doing)
}

const orphan = `UPDATE pooled SET user_id = '` + memory.PoolUser + `', agent_id = '', memory_id = NULL, key_id = ''
	WHERE `

func (u *UserTx) OrphanPooled(ctx context.Context, ids []string) error {
	_, err := u.exec(ctx, orphan+`id = ANY($1::uuid[]) AND {|+}app_id = $2`, validIDs(ids), u.Owner.AppID)
	return u.fault(err, "remove who contributed to the pool")
}

// contributions deletes what the owner has contributed to the pool, if it is not being pushed, or removes who did. The
// entries of deleted copies stay, by which ErasedCopies finds their vectors.
func (x *eraser) contributions(tx tx, step db.EraseStep) {
	if len(x.ids(`SELECT id FROM pooled WHERE app_id = $1 AND user_id = $2 LIMIT 1`, x.owner.AppID, x.owner.UserID)) == 0 {
		return
	}
	pool := memory.PoolOf(x.owner.AppID)
	if x.err = tx.lock(x.ctx, rowcodec.OwnerLock(pool)); x.err != nil {
		return
	}
	if step.Orphan {
		x.run(orphan+`app_id = $1 AND user_id = $2`, x.owner.AppID, x.owner.UserID)
		return
	}
	const copies = `SELECT p.id` + inPool + ` WHERE p.app_id = $1 AND p.user_id = $2 AND `
	ids := x.ids(copies+`NOT coalesce(m.vector_claimed_until > $3, false) ORDER BY p.id LIMIT $4`,
		x.owner.AppID, x.owner.UserID, step.Now, max(0, step.Limit-len(x.some.Memories)))
	claimed := x.ids(copies+`m.vector_claimed_until > $3`, x.owner.AppID, x.owner.UserID, step.Now)
	x.some.Left += len(claimed)
	if x.err != nil || len(ids) == 0 {
		return
	}
	x.run(`DELETE FROM memory_events WHERE memory_id = ANY($1::uuid[]) AND {|+}app_id = $2 AND {|+}user_id = $3`,
		ids, pool.AppID, pool.UserID)
	x.run(`DELETE FROM announcements WHERE app_id = $1 AND user_id = $2 AND data->>'memory_id' = ANY($3::text[])`,
		pool.AppID, pool.UserID, ids)
	x.run(`DELETE FROM indexes WHERE app_id = $1 AND user_id = $2`, pool.AppID, pool.UserID)
	n := 0
	if x.err == nil {
		n, x.err = x.deleteMemories(x.ctx, pool, ids)
	}
	x.some.Deleted.Memories += n
	x.outdate(pool)
}

func (s *Store) ErasedCopies(ctx context.Context, owner memory.Owner) ([]string, error) {
	ids, err := collect(ctx, s.conn, only[string], `SELECT p.id`+erasedCopies, owner.AppID, owner.UserID)
	return ids, s.fault(err, "find the erased copies in the pool")
}

// erasedCopies chooses the entries whose copies are deleted.
const erasedCopies = ` FROM pooled AS p WHERE p.app_id = $1 AND p.user_id = $2 AND NOT EXISTS (
	SELECT 1 FROM agent_memories AS m
	WHERE m.id = p.id AND {|+}m.app_id = $1 AND {|+}m.user_id = '` + memory.PoolUser + `')`
