package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// Export pages through an app's memories with all that is recorded about them.
func (s *Store) Export(ctx context.Context, p db.ExportPage) (records []db.Record, err error) {
	var where conditions
	where.add(`app_id = ?`, p.AppID)
	if p.UserID != "" {
		where.add(`user_id = ?`, p.UserID)
	}
	if a := p.After; a != nil {
		where.add(`(user_id, created_at, id) > (?, ?, ?)`, a.UserID, a.At, a.ID)
	}
	columns := withoutVectors
	if p.Embeddings {
		columns = memoryColumns
	}
	sql := `SELECT ` + columns + ` FROM agent_memories WHERE ` + where.sql() + ` ORDER BY user_id, created_at, id LIMIT ` + where.arg(p.Limit)
	err = s.snapshot(ctx, func(tx pgx.Tx) error {
		page, err := memories(ctx, tx, sql, where.args...)
		if err != nil {
			return err
		}
		ids := make([]string, len(page))
		for i, m := range page {
			ids[i] = m.ID
		}
		events, relations, err := recorded(ctx, tx, memory.Owner{AppID: p.AppID, UserID: p.UserID}, onlyIDs(ids))
		records = rowcodec.Exported(page, events, relations)
		return err
	})
	return records, fault(err, "export the memories")
}

// Recorded returns what is recorded under the ids.
func (s *Store) Recorded(ctx context.Context, owner memory.Owner, ids []string) (records map[string]db.Record, err error) {
	err = s.snapshot(ctx, func(tx pgx.Tx) error {
		records, err = (&userTx{UserTx: s.UserTx(statements{tx}, owner), tx: tx}).Recorded(ctx, ids)
		return err
	})
	return records, fault(err, "read what is recorded of the memories")
}

// Recorded is Store.Recorded within the transaction.
func (u *userTx) Recorded(ctx context.Context, ids []string) (map[string]db.Record, error) {
	these := onlyIDs(ids)
	found, err := memories(ctx, u.tx, `SELECT `+withoutVectors+` FROM agent_memories
		WHERE id = ANY($3::uuid[]) AND app_id = $1 AND user_id = $2`, u.Owner.AppID, u.Owner.UserID, these)
	if err != nil {
		return nil, fault(err, "read the memories")
	}
	events, relations, err := recorded(ctx, u.tx, u.Owner, these)
	if err != nil {
		return nil, fault(err, "read what is recorded of the memories")
	}
	return rowcodec.Recorded(found, events, relations), nil
}

// recorded reads the events and relations of memories of an owner, or of any
// user of the app where none is named.
func recorded(ctx context.Context, tx session, owner memory.Owner, ids pgtype.FlatArray[pgtype.UUID]) ([]memory.Event, []rowcodec.Ends, error) {
	events, err := eventsOf(ctx, tx, `WHERE memory_id = ANY($1::uuid[]) AND app_id = $2 AND ($3::text = '' OR user_id = $3)`,
		ids, owner.AppID, owner.UserID)
	if err != nil {
		return nil, nil, err
	}
	rows, _ := tx.Query(ctx, `
		SELECT r.from_id, r.to_id, r.kind, r.created_at, f.created_at, t.created_at
		FROM memory_relations r JOIN agent_memories f ON f.id = r.from_id JOIN agent_memories t ON t.id = r.to_id
		WHERE r.from_id = ANY($1::uuid[]) OR r.to_id = ANY($1::uuid[])
		ORDER BY r.created_at, r.from_id, r.kind COLLATE "C", r.to_id`, ids)
	relations, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e rowcodec.Ends, err error) {
		err = row.Scan(&e.From, &e.To, &e.Kind, &e.CreatedAt, &e.FromAt, &e.ToAt)
		return e, err
	})
	return events, relations, err
}

// snapshot runs f in a transaction that reads as of one instant.
func (s *Store) snapshot(ctx context.Context, f func(tx pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, f)
}

// Restore stores memories as they are.
func (u *userTx) Restore(ctx context.Context, memories []memory.Memory, due time.Time) error {
	return u.insert(ctx, memories, func(m *memory.Memory) standing {
		state := memory.VectorAbsent
		if m.Status == memory.Active {
			state = memory.VectorPending
		}
		return standing{state: state, due: due, claims: 1} // the next claim is not the first one
	})
}
