package main

import (
	"os"

	"github.com/spf13/cobra"

	"hippocampus/cmd/bench/quality"
	"hippocampus/cmd/bench/target"
)

func longCommand() *cobra.Command {
	var size, file string
	var settings []string
	c := &cobra.Command{
		Use: "long DIR|FILE...", Short: "What contexts hold of conversations with messages of 3,000 characters",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, paths []string) error {
			r, err := quality.MeasureLong(c.Context(),
				quality.Options{Size: target.Size(size), Settings: settings, Paths: paths, Progress: os.Stderr})
			if err != nil {
				return err
			}
			return deliver(r, file)
		},
	}
	sizeFlag(c, &size, target.Small)
	c.Flags().StringArrayVar(&settings, "set", nil, "a setting of the server, KEY=VALUE; may be repeated")
	jsonFlag(c, &file)
	return c
}
