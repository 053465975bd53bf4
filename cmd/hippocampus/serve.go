package main

import (
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"hippocampus/server/app"
)

// gcPercent is lower than Go's default of 100, since most of the heap is caches
// and would double before a collection.
const gcPercent = 75

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
				debug.SetGCPercent(gcPercent)
			}
			return app.Run(cmd.Context(), cfg, host)
		},
	}
}
