package main

import (
	"os"

	"github.com/spf13/cobra"

	"hippocampus/cmd/bench/chinese"
	"hippocampus/cmd/bench/target"
)

func chineseCommand() *cobra.Command {
	var size, file string
	o := chinese.Options{Statements: chinese.Statements(), Progress: os.Stderr}
	c := &cobra.Command{
		Use: "chinese", Short: "What questions about four Chinese lives return", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Size = target.Size(size)
			r, err := chinese.Run(c.Context(), o)
			if err != nil {
				return err
			}
			return deliver(r, file)
		},
	}
	f := c.Flags()
	sizeFlag(c, &size, target.Small)
	f.IntVar(&o.Others, "others", 60, "statements of small talk that each user makes besides, 0 to 400")
	settingsFlag(c, &o.Settings)
	jsonFlag(c, &file)
	return c
}
