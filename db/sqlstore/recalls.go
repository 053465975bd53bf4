package sqlstore

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const recallColumns = `id, app_id, user_id, agent_id, query, memories, degraded, took_us, at`

// recallRow is a row of the log of recalls.
type recallRow struct {
	memory.LoggedRecall
	memories json.RawMessage
	took     int64 // microseconds
}

func (r *recallRow) fields() []any {
	return []any{&r.ID, &r.AppID, &r.UserID, &r.AgentID, &r.Query, &r.memories, &r.Degraded, &r.took, &r.At}
}

func (r *recallRow) entry() (memory.LoggedRecall, error) {
	r.Took = time.Duration(r.took) * time.Microsecond
	return r.LoggedRecall, json.Unmarshal(r.memories, &r.Memories)
}

func (s *Store) LogRecalls(ctx context.Context, entries []memory.LoggedRecall) error {
	if len(entries) == 0 {
		return nil
	}
	locks := make([]int64, len(entries))
	rows := make([][]any, len(entries))
	for i, e := range entries {
		memories, err := json.Marshal(append([]memory.LoggedMemory{}, e.Memories...))
		if err != nil {
			return s.fault(err, "log the recalls")
		}
		locks[i] = rowcodec.TurnsLock(e.Owner)
		rows[i] = []any{e.ID, e.AppID, e.UserID, e.AgentID, rowcodec.Storable(e.Query), json.RawMessage(memories),
			append([]string{}, e.Degraded...), e.Took.Microseconds(), e.At, rowcodec.OwnerHash(e.Owner)}
	}
	slices.Sort(locks)
	err := s.transact(ctx, func(tx tx) error {
		if err := tx.lockShared(ctx, slices.Compact(locks)); err != nil {
			return err
		}
		_, err := tx.execAll(ctx, `INSERT INTO recalls (`+recallColumns+`)
			SELECT $1::uuid, $2::text, $3::text, $4::text, $5::text, $6::json, $7::text[], $8::bigint, $9::timestamptz
			WHERE NOT EXISTS (SELECT 1 FROM erasures WHERE owner_hash = $10 AND (state = 'erasing' OR done_at >= $9))`, rows)
		return err
	})
	return s.fault(err, "log the recalls")
}

func (s *Store) ListRecalls(ctx context.Context, f db.RecallFilter) ([]memory.LoggedRecall, error) {
	var where Conditions
	where.Add(`app_id = ? AND user_id = ?`, f.Owner.AppID, f.Owner.UserID)
	if p := f.Before; p != nil {
		where.Add(`(at, id) < (?, ?)`, p.At, p.ID)
	}
	rows, err := page(ctx, s.conn, (*recallRow).fields, `SELECT `+recallColumns+` FROM recalls WHERE `, where,
		`at DESC, id DESC`, f.Limit)
	entries := make([]memory.LoggedRecall, len(rows))
	for i := range rows {
		if err == nil {
			entries[i], err = rows[i].entry()
		}
	}
	return entries, s.fault(err, "list the recalls")
}

func (s *Store) LoggedRecall(ctx context.Context, owner memory.Owner, id string) (e memory.LoggedRecall, err error) {
	if !memory.IsID(id) {
		return e, nil
	}
	row, ok, err := first(ctx, s.conn, (*recallRow).fields, `SELECT `+recallColumns+` FROM recalls
		WHERE id = $1 AND {|+}app_id = $2 AND {|+}user_id = $3`, id, owner.AppID, owner.UserID)
	if err == nil && ok {
		e, err = row.entry()
	}
	return e, s.fault(err, "read the recall")
}

func (s *Store) PurgeRecalls(ctx context.Context, before time.Time, limit int) (int, error) {
	n, err := s.exec(ctx, `DELETE FROM recalls WHERE id IN (SELECT id FROM recalls WHERE at < $1 ORDER BY at LIMIT $2)`,
		before, limit)
	return n, s.fault(err, "purge the log of recalls")
}
