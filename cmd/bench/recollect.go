package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"hippocampus/cmd/bench/quality"
	"hippocampus/cmd/bench/target"
)

func recollectCommand() *cobra.Command {
	var size, file string
	var settings []string
	c := &cobra.Command{
		Use: "recollect DIR|FILE...", Short: "What recalls recollect of users half of whose messages have faded",
		Args: func(_ *cobra.Command, paths []string) error {
			if len(paths) == 0 {
				return errors.New("name the folders or files that hold conversations, such as cmd/bench/testdata/zh")
			}
			return nil
		},
		RunE: func(c *cobra.Command, paths []string) error {
			r, err := quality.Recollect(c.Context(), quality.Options{
				Size: target.Size(size), Settings: settings, Paths: paths, Progress: os.Stderr,
			})
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
