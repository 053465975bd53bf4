package main

import (
	"os"

	"github.com/spf13/cobra"

	"hippocampus/cmd/bench/changes"
	"hippocampus/cmd/bench/target"
)

func changesCommand() *cobra.Command {
	var size, file, pairs string
	o := changes.Options{Pairs: changes.Pairs, Progress: os.Stderr}
	c := &cobra.Command{
		Use: "changes", Short: "What a question returns after the user changed their mind", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			o.Size = target.Size(size)
			if pairs != "" {
				if o.Pairs, err = changes.PairsOf(pairs); err != nil {
					return err
				}
			}
			r, err := changes.Run(c.Context(), o)
			if err != nil {
				return err
			}
			return deliver(r, file)
		},
	}
	f := c.Flags()
	sizeFlag(c, &size, target.Small)
	f.BoolVar(&o.Model, "model", false, "a scripted model, which makes no mistake, scores, judges and routes")
	f.IntSliceVar(&o.Others, "others", []int{0, 40, 400}, "numbers of other statements between the two, 0 to 400 each")
	f.IntVar(&o.Each, "each", 3, "measure one pair of so many among 100 others or more, to save time; 1: measure all")
	f.StringVar(&pairs, "pairs", "", "file of pairs instead of the built-in ones, in their form")
	jsonFlag(c, &file)
	return c
}
