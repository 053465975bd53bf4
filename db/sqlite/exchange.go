package sqlite

import (
	"context"
	"database/sql"
	"time"

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
		where.add(`(user_id, created_at, id) > (?, ?, ?)`, a.UserID, moment(a.At), a.ID)
	}
	columns := withoutVectors
	if p.Embeddings {
		columns = memoryColumns
	}
	err = s.snapshot(ctx, func(tx *sql.Tx) error {
		page, err := collect(ctx, tx, memoryFields, `SELECT `+columns+`
			FROM agent_memories INDEXED BY agent_memories_by_time WHERE `+where.sql()+`
			ORDER BY user_id, created_at, id LIMIT ?`, append(where.args, p.Limit)...)
		if err != nil {
			return err
		}
		events, relations, err := recorded(ctx, tx, memory.Owner{AppID: p.AppID, UserID: p.UserID}, idsOf(page))
		records = rowcodec.Exported(page, events, relations)
		return err
	})
	return records, fault(err, "export the memories")
}

// Recorded returns what is recorded under the ids.
func (s *Store) Recorded(ctx context.Context, owner memory.Owner, ids []string) (records map[string]db.Record, err error) {
	err = s.snapshot(ctx, func(tx *sql.Tx) error {
		records, err = (&userTx{UserTx: s.UserTx(transaction{tx, s.jobs}, owner), tx: tx}).Recorded(ctx, ids)
		return err
	})
	return records, fault(err, "read what is recorded of the memories")
}

// Recorded is Store.Recorded within the transaction.
func (u *userTx) Recorded(ctx context.Context, ids []string) (map[string]db.Record, error) {
	found, err := collect(ctx, u.tx, memoryFields, `SELECT `+withoutVectors+` FROM agent_memories
		WHERE id IN (SELECT value FROM json_each(?)) AND +app_id = ? AND +user_id = ?`, list(ids), u.Owner.AppID, u.Owner.UserID)
	if err != nil {
		return nil, fault(err, "read the memories")
	}
	events, relations, err := recorded(ctx, u.tx, u.Owner, ids)
	if err != nil {
		return nil, fault(err, "read what is recorded of the memories")
	}
	return rowcodec.Recorded(found, events, relations), nil
}

// recorded reads the events and relations of memories of an owner, or of any
// user of the app where none is named.
func recorded(ctx context.Context, tx *sql.Tx, owner memory.Owner, ids []string) ([]memory.Event, []rowcodec.Ends, error) {
	events, err := collect(ctx, tx, eventFields, `SELECT `+eventColumns+` FROM memory_events
		WHERE memory_id IN (SELECT value FROM json_each(?1)) AND +app_id = ?2 AND (?3 = '' OR +user_id = ?3)
		ORDER BY at, id`, list(ids), owner.AppID, owner.UserID)
	if err != nil {
		return nil, nil, err
	}
	relations, err := collect(ctx, tx, func(e *rowcodec.Ends) []any {
		return []any{&e.From, &e.To, &e.Kind, (*instant)(&e.CreatedAt), (*instant)(&e.FromAt), (*instant)(&e.ToAt)}
	}, `SELECT r.from_id, r.to_id, r.kind, r.created_at, f.created_at, t.created_at
		FROM memory_relations AS r CROSS JOIN agent_memories AS f ON f.id = r.from_id CROSS JOIN agent_memories AS t ON t.id = r.to_id
		WHERE r.from_id IN (SELECT value FROM json_each(?1)) OR r.to_id IN (SELECT value FROM json_each(?1))
		ORDER BY r.created_at, r.from_id, r.kind, r.to_id`, list(ids))
	return events, relations, err
}

// snapshot runs f in a transaction that reads as of one instant.
func (s *Store) snapshot(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := s.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback() // it has only read
	return f(tx)
}

func idsOf(memories []memory.Memory) []string {
	ids := make([]string, len(memories))
	for i, m := range memories {
		ids[i] = m.ID
	}
	return ids
}

// Restore stores memories as they are.
func (u *userTx) Restore(ctx context.Context, memories []memory.Memory, due time.Time) error {
	return u.insert(ctx, memories, func(m memory.Memory) standing {
		state := memory.VectorAbsent
		if m.Status == memory.Active {
			state = memory.VectorPending
		}
		return standing{state: state, due: due, claims: 1} // the next claim is not the first one
	})
}
