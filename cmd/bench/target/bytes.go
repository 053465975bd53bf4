package target

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/jackc/pgx/v5"
)

// DatabaseBytes is the size of the database: of the files of SQLite, or of the tables of Postgres with their indexes.
// What Milvus holds does not count.
func (s *Stores) DatabaseBytes(ctx context.Context) (n int64, err error) {
	if s.schema == "" {
		err := filepath.WalkDir(s.folder, func(_ string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil // SQLite has removed it
			}
			if err == nil {
				n += info.Size()
			}
			return err
		})
		return n, err
	}
	conn, err := pgx.Connect(ctx, s.server)
	if err != nil {
		return 0, fmt.Errorf("the Postgres of DATABASE_URL does not answer: %w", err)
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
		FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace WHERE s.nspname = $1 AND c.relkind = 'r'`,
		s.schema).Scan(&n)
	return n, err
}
