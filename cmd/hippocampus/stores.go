package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/terminal"
	"hippocampus/db/postgres/partition"
	"hippocampus/server/app"
	"hippocampus/server/config"
)

func migrateCommand(o *overrides, host app.Host) *cobra.Command {
	return o.command("migrate", "Bring the database's schema up to date", []string{"migrate"},
		func(cmd *cobra.Command, cfg config.Config) error { return app.Migrate(cmd.Context(), cfg, host) })
}

func verifyCommand(o *overrides, host app.Host) *cobra.Command {
	repair := false
	cmd := o.command("verify", "Compare the vector store with the database; exit 1 if they differ",
		[]string{"verify", "verify --repair"},
		func(cmd *cobra.Command, cfg config.Config) error {
			return withBar(host, func(host app.Host) error { return app.Verify(cmd.Context(), cfg, host, repair) })
		})
	cmd.Flags().BoolVar(&repair, "repair", false, "make the vector store equal to the database")
	return cmd
}

func partitionCommand(o *overrides, host app.Host) *cobra.Command {
	options := app.PartitionOptions{}
	cmd := o.command("partition", "Partition the largest tables of a Postgres by user; servers may be running",
		[]string{"partition --dry-run", "partition --partitions 16"},
		func(cmd *cobra.Command, cfg config.Config) error {
			return app.Partition(cmd.Context(), cfg, host, options)
		})
	cmd.Long = cmd.Short + ".\n\nIt copies the tables, which takes hours for many millions of rows. " +
		"If it ends early, run it again: it goes on where it was."
	cmd.Flags().IntVar(&options.Partitions, "partitions", 16,
		fmt.Sprintf("`number` of partitions, %d to %d", partition.MinPartitions, partition.MaxPartitions))
	cmd.Flags().BoolVar(&options.DryRun, "dry-run", false, "print the sizes of the tables only")
	cmd.Flags().BoolVar(&options.Cancel, "cancel", false, "remove what a conversion that ended early has made")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "cancel")
	return cmd
}

func rebuildCommand(o *overrides, host app.Host) *cobra.Command {
	return o.command("rebuild", "Fill the vector store again from the database; servers may be running",
		[]string{"rebuild"},
		func(cmd *cobra.Command, cfg config.Config) error {
			return withBar(host, func(host app.Host) error { return app.Rebuild(cmd.Context(), cfg, host) })
		})
}

// withBar shows the progress of f, if standard error is a terminal.
func withBar(host app.Host, f func(app.Host) error) error {
	bar := terminal.NewCount(host.Err, "comparing", -1)
	defer bar.End()
	host.OnProgress = bar.Show
	return f(host)
}
