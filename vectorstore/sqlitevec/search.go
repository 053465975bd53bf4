package sqlitevec

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"hippocampus/vectorstore"
)

// Search compares the query with each of the owner's records that pass its
// filter, in memory or in the file.
func (s *Store) Search(ctx context.Context, q vectorstore.Query) ([]vectorstore.Hit, error) {
	if err := vectorstore.CheckQuery(s.space, q); err != nil {
		return nil, err
	}
	e, known := s.cache.get(q.Owner)
	if known {
		switch hits, among, ok := e.search(q); {
		case ok && len(among) == 0:
			return hits, nil
		case ok:
			return s.searchFile(ctx, q, among)
		}
	}
	hits, err := s.searchFile(ctx, q, nil)
	if err != nil || known || len(hits) < q.Limit { // few records are searched in the file
		return hits, err
	}
	return hits, failed(ctx, "counting a user's vectors", s.cache.fill(ctx, s.reader, q.Owner))
}

// searchFile compares the query with the owner's records by sqlite-vec; if among has ids, only with these records. It
// orders by the Euclidean distance d, which sqlite-vec computes a third faster than the cosine. For unit vectors,
// cosine = 1 - d*d/2.
func (s *Store) searchFile(ctx context.Context, q vectorstore.Query, among []string) ([]vectorstore.Hit, error) {
	query, args, err := searchSQL(q, among)
	if err != nil {
		return nil, fmt.Errorf("searching vectors: %w", err)
	}
	scan := func(rows *sql.Rows) (hit vectorstore.Hit, err error) {
		var d float64
		err = rows.Scan(&hit.ID, &d)
		hit.Similarity = max(-1, 1-d*d/2)
		return hit, err
	}
	hits, err := queryAll(ctx, s.reader, scan, query, args...)
	return hits, failed(ctx, "searching vectors", err)
}

// searchSQL is the statement of searchFile with its arguments.
func searchSQL(q vectorstore.Query, among []string) (query string, args []any, err error) {
	where, conditionArgs, err := filter(q)
	if err != nil {
		return "", nil, err
	}
	args = append([]any{encode(q.Embedding)}, conditionArgs...)
	if len(among) > 0 {
		list, err := json.Marshal(among)
		if err != nil {
			return "", nil, err
		}
		// With a +, SQLite finds the records by their ids.
		where = "id IN (SELECT value FROM json_each(?)) AND +" + where
		args = slices.Insert(args, 1, any(string(list)))
	}
	query = `SELECT id, vec_distance_L2(embedding, ?) AS distance FROM records
		WHERE ` + where + ` ORDER BY distance, id LIMIT ?`
	return query, append(args, q.Limit), nil
}

// filter is the condition of a query with its arguments.
func filter(q vectorstore.Query) (where string, args []any, err error) {
	conditions := []string{"app_id = ?", "user_id = ?"}
	args = []any{q.Owner.AppID, q.Owner.UserID}
	in := func(column string, values any, n int) {
		if n == 0 || err != nil {
			return
		}
		var list []byte
		list, err = json.Marshal(values)
		conditions, args = append(conditions, column+" IN (SELECT value FROM json_each(?))"), append(args, string(list))
	}
	in("domain", q.Domains, len(q.Domains))
	in("memory_type", q.Types, len(q.Types))
	if q.AgentID != "" {
		conditions, args = append(conditions, "agent_id IN ('', ?)"), append(args, q.AgentID)
	}
	if !q.Since.IsZero() {
		conditions, args = append(conditions, "created_at >= ?"), append(args, q.Since.UnixMilli())
	}
	if !q.Until.IsZero() {
		conditions, args = append(conditions, "created_at < ?"), append(args, q.Until.UnixMilli())
	}
	return strings.Join(conditions, " AND "), args, err
}

// Scan reads records in id order.
func (s *Store) Scan(ctx context.Context, after string, limit int, f func(vectorstore.Record) error) error {
	return vectorstore.ScanPages(after, limit, func(after string, limit int) ([]vectorstore.Record, error) {
		page, err := queryAll(ctx, s.reader, scanRecord,
			`SELECT id, app_id, user_id, agent_id, domain, memory_type, created_at, content
			FROM records WHERE id > ? ORDER BY id LIMIT ?`, after, limit)
		return page, failed(ctx, "scanning vectors", err)
	}, f)
}

func scanRecord(rows *sql.Rows) (r vectorstore.Record, err error) {
	var created int64
	err = rows.Scan(&r.ID, &r.AppID, &r.UserID, &r.AgentID, &r.Domain, &r.Type, &created, &r.Content)
	r.CreatedAt = time.UnixMilli(created).UTC()
	return r, err
}
