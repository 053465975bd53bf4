package main

import (
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"hippocampus/server/app"
)

// collectAt is the share of the live heap, in percent, that may grow before it
// is collected: most of it is caches, which doubling would make twice as large.
const collectAt = 75

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
			if os.Getenv("GOGC") == "" {
				debug.SetGCPercent(collectAt)
			}
			return app.Run(cmd.Context(), cfg, host)
		},
	}
}
