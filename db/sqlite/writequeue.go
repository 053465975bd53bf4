package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// writeQueue admits one writer at a time, in the order in which they came:
// database/sql wakes those that wait for a connection in any order, so that some
// could wait forever. River's own few statements do not use it: each competes
// with one of the store's writers at a time, not with all.
type writeQueue chan struct{}

func newWriteQueue() writeQueue { return make(writeQueue, 1) }

// acquire waits for the writer's turn, or for the end of the context.
func (q writeQueue) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case q <- struct{}{}: // senders are served in the order in which they came
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (q writeQueue) release() { <-q }

// exec runs one statement of a writer.
func (s *Store) exec(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	if err := s.queue.acquire(ctx); err != nil {
		return nil, err
	}
	defer s.queue.release()
	result, err := retryBusy(ctx, func() (sql.Result, error) { return s.writer.ExecContext(ctx, statement, args...) })
	return result, s.noting(err)
}

// busyTimeout is how long to wait in all for the writes of other processes.
// SQLite gives up after busyMillis and does not queue processes: on a slow disk,
// a process that writes all the time keeps others out for longer.
const busyTimeout = 30 * time.Second

// retryBusy retries f while SQLite reports SQLITE_BUSY, for at most busyTimeout
// or until ctx is done.
func retryBusy[T any](ctx context.Context, f func() (T, error)) (result T, err error) {
	if result, err = f(); !isBusy(err) {
		return result, err
	}
	for timeout := time.After(busyTimeout); isBusy(err); result, err = f() {
		select {
		case <-ctx.Done():
			return result, err
		case <-timeout:
			return result, err
		case <-time.After(time.Millisecond): // in case SQLite does not wait itself
		}
	}
	return result, err
}

// isBusy reports whether another process held the write lock.
func isBusy(err error) bool {
	answered := new(sqlite.Error)
	return errors.As(err, &answered) && answered.Code()&0xff == sqlite3.SQLITE_BUSY
}
