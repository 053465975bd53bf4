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

// Insert adds records in one transaction.
func (s *Store) Insert(ctx context.Context, records []vectorstore.Record) error {
	return s.put(ctx, "inserting vectors", `INSERT`, records)
}

// Replace adds or replaces records in one transaction.
func (s *Store) Replace(ctx context.Context, records []vectorstore.Record) error {
	return s.put(ctx, "replacing vectors", `INSERT OR REPLACE`, records)
}

// Delete removes the records of these ids in one statement.
func (s *Store) Delete(ctx context.Context, ids []string) error {
	list, err := json.Marshal(vectorstore.StorableIDs(ids))
	if err != nil {
		return fmt.Errorf("deleting vectors: %w", err)
	}
	if _, err := s.writer.ExecContext(ctx, `DELETE FROM records WHERE id IN (SELECT value FROM json_each(?))`, string(list)); err != nil {
		return failed(ctx, "deleting vectors", err)
	}
	return nil
}

func (s *Store) put(ctx context.Context, doing, verb string, records []vectorstore.Record) error {
	if err := vectorstore.CheckRecords(s.space, records); err != nil {
		return err
	}
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return failed(ctx, doing, err)
	}
	defer tx.Rollback()
	if err := putAll(ctx, tx, verb, records); err != nil {
		return failed(ctx, doing, err)
	}
	if err := tx.Commit(); err != nil {
		return failed(ctx, doing, err)
	}
	return nil
}

func putAll(ctx context.Context, tx *sql.Tx, verb string, records []vectorstore.Record) error {
	statement, err := tx.PrepareContext(ctx, verb+` INTO records
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
