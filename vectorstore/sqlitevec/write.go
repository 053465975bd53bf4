package sqlitevec

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"hippocampus/vectorstore"
)

// writer writes to one table.
type writer struct {
	space vectorstore.Space
	db    *sql.DB // one connection
	table string
}

// Insert adds records in one transaction.
func (w *writer) Insert(ctx context.Context, records []vectorstore.Record) error {
	return w.put(ctx, "inserting vectors", `INSERT`, records)
}

// Replace adds or replaces records in one transaction.
func (w *writer) Replace(ctx context.Context, records []vectorstore.Record) error {
	return w.put(ctx, "replacing vectors", `INSERT OR REPLACE`, records)
}

// Delete removes the records of these ids in one statement.
func (w *writer) Delete(ctx context.Context, ids []string) error {
	list, err := json.Marshal(vectorstore.StorableIDs(ids))
	if err != nil {
		return fmt.Errorf("deleting vectors: %w", err)
	}
	if _, err := w.db.ExecContext(ctx, `DELETE FROM `+w.table+` WHERE id IN (SELECT value FROM json_each(?))`, string(list)); err != nil {
		return failed(ctx, "deleting vectors", err)
	}
	return nil
}

func (w *writer) put(ctx context.Context, doing, verb string, records []vectorstore.Record) error {
	if err := vectorstore.CheckRecords(w.space, records); err != nil {
		return err
	}
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return failed(ctx, doing, err)
	}
	defer tx.Rollback()
	if err := putAll(ctx, tx, verb+` INTO `+w.table, records); err != nil {
		return failed(ctx, doing, err)
	}
	if err := tx.Commit(); err != nil {
		return failed(ctx, doing, err)
	}
	return nil
}

func putAll(ctx context.Context, tx *sql.Tx, into string, records []vectorstore.Record) error {
	statement, err := tx.PrepareContext(ctx, into+`
		(id, app_id, user_id, agent_id, domain, memory_type, created_at, embedding, content)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer statement.Close()
	for _, r := range records {
		if _, err := statement.ExecContext(ctx, r.ID, r.AppID, r.UserID, r.AgentID, string(r.Domain), string(r.Type),
			r.CreatedAt.UnixMilli(), encode(r.Embedding), r.Content); err != nil {
			return err
		}
	}
	return nil
}

// encode is v scaled to unit length, as sqlite-vec reads it.
func encode(v []float32) []byte {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	length := math.Sqrt(square)
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(float64(x)/length)))
	}
	return b
}
