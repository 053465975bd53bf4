package main

import (
	"github.com/spf13/cobra"

	"hippocampus/server/app"
)

func backupCommand(o *overrides, host app.Host) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the SQLite database into a file; servers may be running",
		Long: `Copy the SQLite database into a file, as it is at one moment. Servers may be running, and go on.

The copy holds everything but the vectors, which a server makes of it again. To restore it, stop the server, name the
copy hippocampus.db in an empty data folder, and start the server there. Back up a Postgres with pg_dump.`,
		Example: "  hippocampus backup hippocampus-monday.db",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := o.load()
			if err != nil {
				return err
			}
			return app.Backup(cmd.Context(), cfg, host, args[0])
		},
	}
}
