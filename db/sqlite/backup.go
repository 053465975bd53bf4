package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"hippocampus/db/sqlite/sqlitefile"
	"hippocampus/internal/memory"
)

// Backup writes the database as it is at one moment into a file that does not exist. Other processes and connections
// read and write during it. The file is on the disk under its name only once it is complete. Deleted rows leave nothing
// in it.
// Errors: KindConflict if the file exists.
func (s *Store) Backup(ctx context.Context, file string) (err error) {
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return memory.Errorf(memory.KindConflict, "the file %s exists: give the name of another", file)
	}
	part := file + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove an unfinished backup: %w", err)
	}
	if err := sqlitefile.Private(part); err != nil {
		return fmt.Errorf("create the backup: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(part))
		}
	}()
	// Reading connections refuse the statement, and the writing one would keep writers waiting.
	connection, err := sql.Open("sqlite", address(s.path))
	if err != nil {
		return fault(err, "open "+s.path)
	}
	defer func() { err = errors.Join(err, connection.Close()) }()
	if _, err := connection.ExecContext(ctx, `VACUUM INTO ?`, part); err != nil {
		return fault(err, "write the backup")
	}
	if err := syncFile(part); err != nil { // SQLite does not sync it
		return fmt.Errorf("write the backup to the disk: %w", err)
	}
	return os.Rename(part, file)
}

// syncFile waits until a file is on the disk.
func syncFile(path string) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.Sync()
}
