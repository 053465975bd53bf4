package main

import (
	"os"

	"github.com/spf13/cobra"

	"hippocampus/cmd/bench/quality"
	"hippocampus/cmd/bench/target"
)

func promptsCommand() *cobra.Command {
	var size, file string
	c := &cobra.Command{
		Use: "prompts DIR|FILE...", Short: "Recall of questions that stand inside of pasted code, logs and mail",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, paths []string) error {
			r, err := quality.MeasurePrompts(c.Context(),
				quality.Options{Size: target.Size(size), Paths: paths, Progress: os.Stderr})
			if err != nil {
				return err
			}
			return deliver(r, file)
		},
	}
	sizeFlag(c, &size, target.Small)
	jsonFlag(c, &file)
	return c
}
