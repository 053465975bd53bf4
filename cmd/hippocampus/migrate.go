package main

import (
	"github.com/spf13/cobra"

	"hippocampus/server/app"
)

func migrateCommand(o *overrides, host app.Host) *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database's schema up to date",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := o.load()
			if err != nil {
				return err
			}
			return app.Migrate(cmd.Context(), cfg, host)
		},
	}
}
