package sqlitevec

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"

	"hippocampus/db/rowcodec"
	"hippocampus/vectorstore"
)

// writer writes to one table.
type writer struct {
	space vectorstore.Space
	db    *sql.DB // one connection
	table string
	cache *cache // of that table; may be nil
}

// Insert adds records in one transaction.
func (w *writer) Insert(ctx context.Context, records []vectorstore.Record) error {
	return w.put(ctx, "inserting vectors", `INSERT`, records)
}

// Replace adds or replaces records in one transaction.
func (w *writer) Replace(ctx context.Context, records []vectorstore.Record) error {
	return w.put(ctx, "replacing vectors", `INSERT OR REPLACE`, records)
}

// Delete removes the records with these ids in one statement.
func (w *writer) Delete(ctx context.Context, ids []string) error {
	const action = "deleting vectors"
	ids = vectorstore.StorableIDs(ids)
	list, err := json.Marshal(ids)
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	return w.write(ctx, action, change{ids: ids}, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM `+w.table+` WHERE id IN (SELECT value FROM json_each(?))`, string(list))
		return err
	})
}

func (w *writer) put(ctx context.Context, action, verb string, records []vectorstore.Record) error {
	if err := vectorstore.CheckRecords(w.space, records); err != nil {
		return err
	}
	ids := make([]string, len(records))
	for i, r := range records {
		ids[i] = r.ID
	}
	return w.write(ctx, action, change{ids: ids, records: records}, func(tx *sql.Tx) error {
		statement, err := tx.PrepareContext(ctx, verb+` INTO `+w.table+`
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
	})
}

// write runs f, which makes this change, in one transaction.
func (w *writer) write(ctx context.Context, action string, c change, f func(tx *sql.Tx) error) error {
	commit := (*sql.Tx).Commit
	if w.cache != nil {
		commit = w.cache.commit(c)
	}
	return failed(ctx, action, inTx(ctx, w.db, commit, f))
}

// unit is v scaled to unit length.
func unit(v []float32) []float32 {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	length := math.Sqrt(square)
	scaled := make([]float32, len(v))
	for i, x := range v {
		scaled[i] = float32(float64(x) / length)
	}
	return scaled
}

// encode encodes v, scaled to unit length, in the format of sqlite-vec.
func encode(v []float32) []byte { return rowcodec.VectorBytes(unit(v)) }
