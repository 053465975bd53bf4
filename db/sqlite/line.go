package sqlite

import (
	"context"
	"database/sql"
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
	return s.writer.ExecContext(ctx, statement, args...)
}
