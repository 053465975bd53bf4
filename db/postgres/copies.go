package postgres

import "context"

// copyKey is the key of the lock that a copy shares and an erasure takes alone.
const copyKey = `hashtextextended('hippocampus copy ' || current_schema(), 0)`

func (s *Store) Copy(ctx context.Context, f func(ctx context.Context) error) error {
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return fault(err, "begin a copy")
	}
	defer c.Release()
	// A lock of the session, since the time of an idle transaction is limited.
	if _, err := c.Exec(ctx, `SELECT pg_advisory_lock_shared(`+copyKey+`)`); err != nil {
		return fault(err, "begin a copy")
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
		defer cancel()
		if _, err := c.Exec(ctx, `SELECT pg_advisory_unlock_shared(`+copyKey+`)`); err != nil {
			_ = c.Conn().Close(ctx) // which releases the lock
		}
	}()
	return f(ctx)
}

func (s *Store) AwaitCopies(ctx context.Context) error {
	// The transaction, and with it the lock, ends with the statement.
	_, err := s.pool.Exec(ctx, `SELECT pg_advisory_xact_lock(`+copyKey+`)`)
	return fault(err, "wait for copies to another vector collection")
}
