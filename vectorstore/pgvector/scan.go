package pgvector

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/vectorstore"
)

// Scan reads records in id order.
func (s *Store) Scan(ctx context.Context, after string, limit int, f func(vectorstore.Record) error) error {
	return vectorstore.ScanPages(after, limit, func(after string, limit int) (page []vectorstore.Record, err error) {
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
	}, f)
}
