package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// line lets writers in one at a time, first come, first served: database/sql
// wakes those that wait for a connection in any order, by which some wait for as
// long as there are others. River's own few statements do not stand in it: they
// meet one of our writers at a time, not all.
type line chan struct{}

func newLine() line { return make(line, 1) }

// enter waits for its turn, or for the end of the context.
func (l line) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case l <- struct{}{}: // senders are served in the order in which they came
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l line) leave() { <-l }

// exec runs one statement of a writer.
func (s *Store) exec(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	if err := s.line.enter(ctx); err != nil {
		return nil, err
	}
	defer s.line.leave()
	return insist(ctx, func() (sql.Result, error) { return s.writer.ExecContext(ctx, statement, args...) })
}

// patience is how long another process' writes are waited for in all. SQLite
// gives up after busyMillis, and it knows no line between processes: on a slow
// disk one that writes all the time keeps others out for longer.
const patience = 30 * time.Second

// insist calls what takes the write lock until the lock is had, the context
// ends or patience does.
func insist[T any](ctx context.Context, f func() (T, error)) (result T, err error) {
	if result, err = f(); !locked(err) {
		return result, err
	}
	for enough := time.After(patience); locked(err); result, err = f() {
		select {
		case <-ctx.Done():
			return result, err
		case <-enough:
			return result, err
		case <-time.After(time.Millisecond): // where SQLite does not wait itself
		}
	}
	return result, err
}

// locked reports whether another process held the write lock.
func locked(err error) bool {
	answered := new(sqlite.Error)
	return errors.As(err, &answered) && answered.Code()&0xff == sqlite3.SQLITE_BUSY
}
