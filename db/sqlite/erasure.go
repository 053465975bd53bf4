package sqlite

import (
	"context"
	"errors"
	"time"

	"hippocampus/db"
	"hippocampus/db/sqlite/sqlitefile"
)

// EndErasure is the shared EndErasure, after which the files have no trace of the user:
// deleted contents (secure_delete) and copies of them are overwritten, and the write-ahead log, which has earlier
// pages, is emptied before and after.
func (s *Store) EndErasure(ctx context.Context, e db.Erasure, at time.Time, vectors int) (db.Erasure, error) {
	err := s.cleaner.Clean(ctx)
	if errors.Is(err, sqlitefile.ErrTooLarge) {
		s.log.WarnContext(ctx, "copies of the rows of a user who is erased may be left in the file", "error", err)
	} else if err != nil {
		return e, fault(err, "overwrite copies of deleted rows")
	}
	if err := s.truncateLog(ctx); err != nil {
		return e, err
	}
	done, err := s.Store.EndErasure(ctx, e, at, vectors)
	if err != nil {
		return done, err
	}
	err = s.cleaner.CleanTable(ctx, "river_job") // the end deletes the jobs that name the user
	if err == nil {
		err = s.truncateLog(ctx)
	}
	if err != nil { // the erasure has ended; the next erasure or checkpoint cleans the files
		s.log.WarnContext(ctx, "the database file or its write-ahead log may still name a user who was erased", "error", err)
	}
	return done, nil
}

func (s *Store) truncateLog(ctx context.Context) error {
	err := s.queue.acquire(ctx)
	if err == nil {
		defer s.queue.release()
		err = sqlitefile.Truncate(ctx, s.writer)
	}
	return fault(err, "empty the write-ahead log")
}
