package sqlstore

import (
	"context"
	"time"
)

// ago is the time column for a number of microseconds, in $1, before or after now.
const (
	clock  = `{clock_timestamp()|CAST(unixepoch('subsec') * 1000000 AS INTEGER)}`
	before = clock + ` - {make_interval(secs => $1::bigint / 1e6)|$1}`
	after  = clock + ` + {make_interval(secs => $1::bigint / 1e6)|$1}`
)

// Beat frees no job whose attempts are used up: River gives it up after its timeout.
func (s *Store) Beat(ctx context.Context, process string, silence time.Duration) (freed int, err error) {
	micros := silence.Microseconds()
	err = s.transact(ctx, func(tx tx) error {
		_, heard, err := first(ctx, tx.conn, only[bool], `SELECT true FROM processes
			WHERE id = $2 AND seen_at BETWEEN `+before+` AND `+after, micros, process)
		if err != nil {
			return err
		}
		if _, err := tx.exec(ctx, `INSERT INTO processes (id, seen_at) VALUES ($1, `+clock+`)
			ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`, process); err != nil || !heard {
			return err
		}
		// A clock of the database that was ahead has left times in the future.
		if _, err := tx.exec(ctx, `DELETE FROM processes WHERE seen_at NOT BETWEEN `+before+` AND `+after,
			micros); err != nil {
			return err
		}
		freed, err = tx.exec(ctx, `UPDATE river_job SET state = 'available'
			WHERE state = 'running' AND attempt < max_attempts AND NOT EXISTS (SELECT 1 FROM processes
				WHERE id = {attempted_by[array_upper(attempted_by, 1)]|json_extract(CAST(attempted_by AS TEXT), '$[#-1]')})`)
		return err
	})
	return freed, s.fault(err, "note that this process works")
}

func (s *Store) WaitingJobs(ctx context.Context, kind string) (int64, error) {
	waiting, _, err := first(ctx, s.conn, only[int64], `SELECT count(*) FROM river_job
		WHERE kind = $1 AND state IN ('available', 'pending', 'retryable', 'running', 'scheduled')`, kind)
	return waiting, s.fault(err, "count the waiting jobs")
}
