package sqlitevec

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Search compares the query with each of the owner's records that pass, in
// memory or in the file.
func (s *Store) Search(ctx context.Context, q vectorstore.Query) ([]vectorstore.Hit, error) {
	if err := vectorstore.CheckQuery(s.space, q); err != nil {
		return nil, err
	}
	m, err := s.held.of(ctx, s.reader, q.Owner)
	if err != nil {
		return nil, failed(ctx, "reading a user's vectors", err)
	}
	if m != nil {
		if hits, ok := m.search(ctx, q); ok {
			return hits, nil
		}
	}
	return s.searchFile(ctx, q)
}

// searchFile has sqlite-vec compare.
//
// The order is by Euclidean distance d, which sqlite-vec computes a third
// faster than the cosine; of unit vectors, cosine = 1 - d*d/2.
func (s *Store) searchFile(ctx context.Context, q vectorstore.Query) ([]vectorstore.Hit, error) {
	query, args, err := searching(q)
	if err != nil {
		return nil, fmt.Errorf("searching vectors: %w", err)
	}
	rows, err := s.reader.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, failed(ctx, "searching vectors", err)
	}
	defer rows.Close()
	var hits []vectorstore.Hit
	for rows.Next() {
		var id string
		var d float64
		if err := rows.Scan(&id, &d); err != nil {
			return nil, failed(ctx, "searching vectors", err)
		}
		hits = append(hits, vectorstore.Hit{ID: id, Similarity: max(-1, 1-d*d/2)})
	}
	if err := rows.Err(); err != nil {
		return nil, failed(ctx, "searching vectors", err)
	}
	return hits, nil
}

// searching is the statement for a query, with its arguments.
func searching(q vectorstore.Query) (query string, args []any, err error) {
	where, args, err := filter(q)
	return `SELECT id, vec_distance_L2(embedding, ?) AS distance FROM records WHERE ` + where + ` ORDER BY distance, id LIMIT ?`,
		append(append([]any{encode(q.Embedding)}, args...), q.Limit), err
}

// filter is the condition of a query, with its arguments.
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

// scanPage is how many records a scan reads at a time: f is called between
// reads, so that it may write to the store.
const scanPage = 1000

// Scan reads records in id order, page by page. An error of f ends it and is
// returned as it is.
func (s *Store) Scan(ctx context.Context, after string, limit int, f func(vectorstore.Record) error) error {
	if err := vectorstore.CheckScan(after, limit); err != nil {
		return err
	}
	for limit > 0 {
		page, err := s.page(ctx, after, min(limit, scanPage))
		if err != nil {
			return failed(ctx, "scanning vectors", err)
		}
		for _, r := range page {
			if err := f(r); err != nil {
				return err
			}
			after = r.ID
		}
		limit -= len(page)
		if len(page) < scanPage {
			return nil
		}
	}
	return nil
}

func (s *Store) page(ctx context.Context, after string, limit int) ([]vectorstore.Record, error) {
	rows, err := s.reader.QueryContext(ctx, `SELECT id, app_id, user_id, agent_id, domain, memory_type, created_at, content
		FROM records WHERE id > ? ORDER BY id LIMIT ?`, after, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var page []vectorstore.Record
	for rows.Next() {
		var r vectorstore.Record
		var domain, kind string
		var created int64
		if err := rows.Scan(&r.ID, &r.AppID, &r.UserID, &r.AgentID, &domain, &kind, &created, &r.Content); err != nil {
			return nil, err
		}
		r.Domain, r.Type, r.CreatedAt = memory.Domain(domain), memory.Type(kind), time.UnixMilli(created).UTC()
		page = append(page, r)
	}
	return page, rows.Err()
}
