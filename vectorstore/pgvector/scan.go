package pgvector

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/vectorstore"
)

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
			return err
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

func (s *Store) page(ctx context.Context, after string, limit int) (page []vectorstore.Record, err error) {
	err = s.call(ctx, "scanning vectors", func(ctx context.Context) error {
		rows, _ := s.pool.Query(ctx, `SELECT id, app_id, user_id, agent_id, domain, memory_type, created_at, content
			FROM `+s.table+` WHERE id > $1 ORDER BY id LIMIT $2`, after, limit)
		page, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r vectorstore.Record, err error) {
			var created int64
			err = row.Scan(&r.ID, &r.AppID, &r.UserID, &r.AgentID, &r.Domain, &r.Type, &created, &r.Content)
			r.CreatedAt = time.UnixMilli(created).UTC()
			return r, err
		})
		return err
	})
	return page, err
}
