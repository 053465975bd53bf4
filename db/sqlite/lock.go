package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"hippocampus/db/sqlite/sqlitefile"
)

// Lock locks a file for this process, and waits while another process has locked it. It creates the file if it is
// missing. Error: KindUnavailable if the file is still locked after the wait.
//
// The lock is an exclusive transaction on an empty database: on every system, it ends with its process.
func Lock(ctx context.Context, path string, wait time.Duration) (unlock func() error, err error) {
	path, err = filepath.Abs(path) // address needs it
	if err != nil {
		return nil, cannotOpen(path, err)
	}
	if err := sqlitefile.Private(path); err != nil {
		return nil, cannotOpen(path, err)
	}
	file, err := sql.Open("sqlite", address(path))
	if err != nil {
		return nil, fault(err, "lock "+path)
	}
	conn, err := file.Conn(ctx)
	if err == nil {
		begin := fmt.Sprintf(`PRAGMA busy_timeout = %d; BEGIN EXCLUSIVE`, wait.Milliseconds())
		_, err = conn.ExecContext(ctx, begin)
	}
	if err != nil {
		return nil, errors.Join(fault(err, "lock "+path), file.Close())
	}
	return func() error { return errors.Join(conn.Close(), file.Close()) }, nil
}
