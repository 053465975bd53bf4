package main

import (
	"github.com/spf13/cobra"

	"hippocampus/internal/app"
)

func serveCommand(o *overrides, host app.Host) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Run the server until SIGTERM or Ctrl-C",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := o.load()
			if err != nil {
				return err
			}
			return app.Run(cmd.Context(), cfg, host)
		},
	}
}
