// Package sqlitefile keeps the files of a SQLite database private, and free of what was deleted.
package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"time"
)

// Private creates the file if it is missing, and lets only its owner read and write
// it. SQLite gives the files next to it the same permissions.
func Private(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Chmod(path+suffix, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// readersLimit is how long Truncate waits for readers, in addition to SQLite's own busy timeout.
const readersLimit = 10 * time.Second

// ErrBusy says that readers kept the log in use.
var ErrBusy = errors.New("readers keep the write-ahead log in use")

// Truncate writes the write-ahead log into the database and empties it, so that pages
// as they were before a deletion are gone. It waits for readers.
func Truncate(ctx context.Context, db *sql.DB) error {
	for deadline := time.Now().Add(readersLimit); ; { //nolint:forbidigo // measures a duration
		var busy, pages, written int
		err := db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &written)
		if err != nil || busy == 0 {
			return err
		}
		if time.Now().After(deadline) { //nolint:forbidigo // measures a duration
			return ErrBusy
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}
