package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/proxying"
	"hippocampus/cmd/bench/target"
)

func proxyCommand() *cobra.Command {
	var size, data, file string
	var check bool
	o := proxying.Options{Progress: os.Stderr}
	c := &cobra.Command{
		Use: "proxy", Short: "The OpenAI-compatible proxy and a plain reverse proxy, alternately", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			o.Size = target.Size(size)
			if o.Data, err = content.Parse(data); err != nil {
				return err
			}
			r, err := proxying.Run(c.Context(), o)
			if err != nil {
				return err
			}
			if err := deliver(r, file); err != nil || !check {
				return err
			}
			return r.Check()
		},
	}
	f := c.Flags()
	sizeFlag(c, &size, target.Large)
	f.StringVar(&data, "data", "100x100", "USERSxMEMORIES of each")
	f.IntVar(&o.Rounds, "rounds", 1000, "requests of each kind")
	f.DurationVar(&o.Pause, "pause", 20*time.Millisecond, "after each request")
	f.IntVar(&o.Open, "open", 1000, "streams that are open at the same time; 0: this is not measured")
	f.BoolVar(&check, "check", false, "exit with 1 when a target is missed")
	settingsFlag(c, &o.Settings)
	jsonFlag(c, &file)
	return c
}

// reverseCommand runs the plain reverse proxy in a separate process; proxy starts it.
func reverseCommand() *cobra.Command {
	return &cobra.Command{
		Use: "reverse UPSTREAM", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return proxying.ServeReverse(args[0], os.Stdin, os.Stdout)
		},
	}
}
