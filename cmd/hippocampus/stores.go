package main

import (
	"github.com/spf13/cobra"

	"hippocampus/server/app"
	"hippocampus/server/config"
)

func migrateCommand(o *overrides, host app.Host) *cobra.Command {
	return o.command("migrate", "Bring the database's schema up to date",
		func(cmd *cobra.Command, cfg config.Config) error { return app.Migrate(cmd.Context(), cfg, host) })
}

func verifyCommand(o *overrides, host app.Host) *cobra.Command {
	repair := false
	cmd := o.command("verify", "Compare the vector store with the database; exit 1 if they differ",
		func(cmd *cobra.Command, cfg config.Config) error { return app.Verify(cmd.Context(), cfg, host, repair) })
	cmd.Flags().BoolVar(&repair, "repair", false, "make the vector store equal to the database")
	return cmd
}

func rebuildCommand(o *overrides, host app.Host) *cobra.Command {
	return o.command("rebuild", "Fill the vector store again from the database; servers may be running",
		func(cmd *cobra.Command, cfg config.Config) error { return app.Rebuild(cmd.Context(), cfg, host) })
}
