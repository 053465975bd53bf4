package sqlite

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/db/sqlite/sqlitefile"
)

// EndErasure is the shared EndErasure, after which the files have no trace of the user:
// deleted contents are overwritten (secure_delete), and the write-ahead log, which has
// earlier pages, is emptied before and after.
func (s *Store) EndErasure(ctx context.Context, e db.Erasure, at time.Time, vectors int) (db.Erasure, error) {
	if err := s.truncateLog(ctx); err != nil {
		return e, err
	}
	done, err := s.Store.EndErasure(ctx, e, at, vectors)
	if err != nil {
		return done, err
	}
	if err := s.truncateLog(ctx); err != nil { // it has ended: the next checkpoint does it
		s.log.WarnContext(ctx, "the write-ahead log may still name a user who was erased", "error", err)
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
