package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"go.uber.org/zap"

	"hippocampus/db/postgres"
	"hippocampus/db/postgres/partition"
	"hippocampus/internal/memory"
	"hippocampus/server/config"
)

// PartitionOptions choose what Partition does.
type PartitionOptions struct {
	Partitions int
	DryRun     bool // print the sizes of the tables only
	Cancel     bool // remove the tables of a conversion that ended early
}

// Partition converts the largest tables of a Postgres to partitioned ones, while servers
// use them, and prints how far it has come. KindInvalid: the database is not a Postgres.
func Partition(ctx context.Context, cfg config.Config, host Host, o PartitionOptions) (err error) {
	if cfg.Database.URL == "" {
		return memory.Errorf(memory.KindInvalid, "SQLite has no partitions: name a Postgres with DATABASE_URL")
	}
	record, err := openDatabase(ctx, cfg, zap.NewNop())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, record.Close()) }()
	store := record.Store.(*postgres.Store)
	switch {
	case o.Cancel:
		return store.CancelPartition(ctx)
	case o.DryRun:
		return printSizes(ctx, store, host.Out)
	}
	err = store.Partition(ctx, partition.Options{Partitions: o.Partitions, OnProgress: printProgress(host)})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(host.Out, "the tables are partitioned: restart the servers, whose sessions otherwise plan each "+
		"statement for up to an hour")
	return err
}

// progressEvery is the time between two lines about the rows of one table.
const progressEvery = 5 * time.Second

func printProgress(host Host) func(partition.Progress) {
	var last partition.Progress
	var at time.Time
	return func(p partition.Progress) {
		now := host.Now()
		if p.Step == last.Step && p.Table == last.Table && now.Sub(at) < progressEvery {
			return
		}
		last, at = p, now
		if p.Step == "copy" {
			fmt.Fprintf(host.Out, "copy %s: %d of about %d rows\n", p.Table, p.Rows, p.Estimate)
			return
		}
		fmt.Fprintln(host.Out, p.Step, p.Table)
	}
}

func printSizes(ctx context.Context, store *postgres.Store, to io.Writer) error {
	sizes, err := store.Partitionable(ctx)
	if err != nil {
		return err
	}
	var all int64
	for _, s := range sizes {
		all += s.Bytes
		fmt.Fprintf(to, "%-15s about %d rows, %d MB with indexes\n", s.Table, s.Rows, s.Bytes>>20)
	}
	_, err = fmt.Fprintf(to, "the conversion needs about %d MB more until it ends\n", all>>20)
	return err
}
