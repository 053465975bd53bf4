package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/db/postgres/pgsession"
	"hippocampus/db/sqlstore"
)

// Long runs queries in transactions of their own. A query may take as long as its context allows
// while Postgres answers:
//
//	query ------------------------------------> rows
//	every timeout/4: a connection of its own -> SELECT 1; no answer within 2 timeouts: the query is given up
//
// So a count over a large app is not cut short, and a caller does not wait for a Postgres that hangs.
func (d database) Long() sqlstore.Querier { return long{d} }

type long struct{ database }

func (l long) Query(ctx context.Context, sql string, args []any, row func(sqlstore.Scan) error) error {
	watched, end := l.store.whileAnswering(ctx)
	defer end()
	err := pgx.BeginTxFunc(watched, l.store.pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(watched, `SET LOCAL statement_timeout = 0`); err != nil {
			return err
		}
		return statements{tx}.Query(pgsession.Unbounded(watched), sql, args, row)
	})
	if silent := context.Cause(watched); err != nil && errors.Is(silent, errSilent) {
		return fmt.Errorf("%w: %w", silent, err)
	}
	return err
}

var errSilent = errors.New("no other connection to Postgres gets an answer either")

// whileAnswering returns a context that ends when Postgres stops answering. The caller must call end.
func (s *Store) whileAnswering(ctx context.Context) (watched context.Context, end func()) {
	watched, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		pause := time.NewTicker(s.timeout / 4)
		defer pause.Stop()
		for {
			select {
			case <-watched.Done():
				return
			case <-pause.C:
			}
			if !s.answers(watched) {
				cancel(errSilent)
				return
			}
		}
	}()
	return watched, func() {
		cancel(nil)
		<-done
	}
}

// answers reports whether Postgres answers a new connection, even if the answer is a refusal, such as for too many
// clients. The pool is not asked: its connections may all be in use.
func (s *Store) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*s.timeout)
	defer cancel()
	config := s.unlimited.ConnConfig.Copy()
	config.ConnectTimeout = 0 // that of ctx
	conn, err := pgx.ConnectConfig(ctx, config)
	if err == nil {
		err = conn.Ping(ctx)
		_ = conn.Close(ctx)
	}
	return err == nil || sqlState(err) != ""
}
