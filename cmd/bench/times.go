package main

import (
	"os"

	"github.com/spf13/cobra"

	"hippocampus/cmd/bench/target"
	"hippocampus/cmd/bench/times"
)

func timesCommand() *cobra.Command {
	var size, file string
	o := times.Options{Progress: os.Stderr}
	c := &cobra.Command{
		Use: "times", Short: "What questions about a day, a week or a month return", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Size = target.Size(size)
			r, err := times.Run(c.Context(), o)
			if err != nil {
				return err
			}
			return deliver(r, file)
		},
	}
	sizeFlag(c, &size, target.Small)
	c.Flags().StringSliceVar(&o.Zones, "zones", times.Zones, "time zones in which the year is lived")
	jsonFlag(c, &file)
	return c
}
