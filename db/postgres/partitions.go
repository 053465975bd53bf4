package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hippocampus/db/postgres/partition"
	"hippocampus/internal/memory"
)

// genericPlans makes the sessions of a database with partitions keep their plans. A plan for the values of each
// execution excludes the other partitions during planning, which takes two to three times as long as a recall. A kept
// plan excludes them at run time.
const genericPlans = `SELECT set_config('plan_cache_mode', 'force_generic_plan', false) WHERE ` + partition.IsDone

// Partition converts the largest tables to partitioned ones while servers use them, or
// goes on with a conversion that ended early. Servers use kept plans in sessions that
// begin after it. KindConflict: see partition.Convert.
func (s *Store) Partition(ctx context.Context, o partition.Options) error {
	return s.alone(ctx, func(conn *pgx.Conn) error {
		under, err := partition.Under(ctx, conn)
		if err != nil {
			return err
		}
		if !under { // a conversion under way may be of an earlier version
			if err := s.Ping(ctx); err != nil {
				return err
			}
		}
		return partition.Convert(ctx, conn, o)
	})
}

// CancelPartition removes what a conversion that ended early has made.
func (s *Store) CancelPartition(ctx context.Context) error {
	return s.alone(ctx, func(conn *pgx.Conn) error {
		done, err := partition.Done(ctx, conn)
		if err != nil {
			return err
		}
		if done {
			return memory.Errorf(memory.KindConflict, "the tables have been partitioned: there is no conversion to cancel")
		}
		return partition.Cancel(ctx, conn, partition.Options{})
	})
}

// Partitionable returns the sizes of the tables that Partition would copy.
func (s *Store) Partitionable(ctx context.Context) (sizes []partition.Size, err error) {
	err = s.alone(ctx, func(conn *pgx.Conn) (err error) {
		sizes, err = partition.Look(ctx, conn)
		return err
	})
	return sizes, err
}

// alone runs f on a connection without timeouts that ends with f.
func (s *Store) alone(ctx context.Context, f func(conn *pgx.Conn) error) error {
	conn, err := pgx.ConnectConfig(ctx, s.unlimited.ConnConfig)
	if err != nil {
		return unreachable(s.unlimited.ConnConfig, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return fault(f(conn), "partition the tables")
}
