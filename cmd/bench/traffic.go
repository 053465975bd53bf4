package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/loop"
	"hippocampus/cmd/bench/speed"
	"hippocampus/cmd/bench/target"
	"hippocampus/cmd/bench/years"
)

func soakCommand() *cobra.Command {
	var size, data, file string
	o := speed.SoakOptions{Progress: os.Stderr}
	c := &cobra.Command{
		Use: "soak", Short: "Minutes of mixed traffic: growth, errors, equal stores", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			o.Size = target.Size(size)
			if o.Data, err = content.Parse(data); err != nil {
				return err
			}
			r, err := speed.RunSoak(c.Context(), o)
			if err != nil {
				return err
			}
			return deliver(r, file)
		},
	}
	f := c.Flags()
	sizeFlag(c, &size, target.Large)
	f.StringVar(&data, "data", "1000x100", "USERSxMEMORIES of each")
	f.IntVar(&o.Clients, "clients", 8, "clients while the highest rate is found")
	f.DurationVar(&o.For, "for", 10*time.Minute, "how long")
	f.Float64Var(&o.Share, "share", 0.7, "of the highest rate")
	f.DurationVar(&o.Every, "every", 15*time.Second, "between two readings")
	settingsFlag(c, &o.Settings)
	jsonFlag(c, &file)
	return c
}

func overloadCommand() *cobra.Command {
	var size, data, file string
	o := speed.OverloadOptions{Progress: os.Stderr}
	c := &cobra.Command{
		Use: "overload", Short: "One client, and more clients than the server has room for", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			o.Size = target.Size(size)
			if o.Data, err = content.Parse(data); err != nil {
				return err
			}
			r, err := speed.RunOverload(c.Context(), o)
			if err != nil {
				return err
			}
			return deliver(r, file)
		},
	}
	f := c.Flags()
	sizeFlag(c, &size, target.Large)
	f.StringVar(&data, "data", "1000x100", "USERSxMEMORIES of each")
	f.StringSliceVar(&o.Kinds, "kinds", speed.Overloads, "kinds of requests")
	f.IntSliceVar(&o.Clients, "clients", []int{8, 64}, "how many clients send at a time; one alone is always measured")
	f.DurationVar(&o.Slice, "slice", 5*time.Second, "how long each number of clients sends requests in a round")
	f.IntVar(&o.Rounds, "rounds", 4, "turns of each")
	settingsFlag(c, &o.Settings)
	jsonFlag(c, &file)
	return c
}

func messagesCommand() *cobra.Command {
	var file string
	o := speed.MessagesOptions{Progress: os.Stderr}
	c := &cobra.Command{
		Use: "messages", Short: "What the messages of turns cost, on Postgres and Milvus", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := speed.RunMessages(c.Context(), o)
			if err != nil {
				return err
			}
			return deliver(r, file)
		},
	}
	f := c.Flags()
	f.IntVar(&o.Turns, "turns", 1000, "turns that each side processes")
	f.IntVar(&o.Users, "users", 50, "users whose turns these are")
	f.DurationVar(&o.Slice, "slice", 2*time.Second, "how long each side accepts turns in one round")
	f.IntVar(&o.Rounds, "rounds", 10, "rounds of each side")
	f.DurationVar(&o.Pause, "pause", 20*time.Millisecond, "between two accepted turns")
	f.StringArrayVar(&o.Settings, "set", nil, "a setting of both servers, KEY=VALUE; may be repeated")
	jsonFlag(c, &file)
	return c
}

func contextCommand() *cobra.Command {
	var size, data, file string
	o := speed.ContextOptions{Progress: os.Stderr}
	c := &cobra.Command{
		Use: "context", Short: "Whole prompts of conversations that go on", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			o.Size = target.Size(size)
			if o.Data, err = content.Parse(data); err != nil {
				return err
			}
			r, err := speed.RunContext(c.Context(), o)
			if err != nil {
				return err
			}
			return deliver(r, file)
		},
	}
	f := c.Flags()
	sizeFlag(c, &size, target.Large)
	f.StringVar(&data, "data", "100x1000", "USERSxMEMORIES of each")
	f.DurationVar(&o.For, "for", 6*time.Second, "of each kind of request")
	f.DurationVar(&o.Rest, "rest", 10*time.Minute, "longest wait for an idle machine after the load")
	settingsFlag(c, &o.Settings)
	jsonFlag(c, &file)
	return c
}

func loopCommand() *cobra.Command {
	var size, file string
	var contents []string
	o := loop.Options{Progress: os.Stderr}
	c := &cobra.Command{
		Use: "loop", Short: "The day of a chat backend: contexts and turns of users of all sizes", Args: cobra.NoArgs,
		Example: "  bench loop --contents DIR\n" +
			"  bench loop --size sqlite --users 100 --most 2000 --for 1m",
		RunE: func(c *cobra.Command, _ []string) (err error) {
			o.Size = target.Size(size)
			if o.Texts, err = textsOf(contents); err != nil {
				return err
			}
			r, err := loop.Run(c.Context(), o)
			if err != nil {
				return err
			}
			return deliver(r, file)
		},
	}
	f := c.Flags()
	sizeFlag(c, &size, target.Large)
	f.IntVar(&o.Users, "users", 1000, "users of log-normal numbers of memories")
	f.IntVar(&o.Least, "least", 50, "memories of the smallest user")
	f.IntVar(&o.Most, "most", 20_000, "memories of the largest user")
	f.Float64Var(&o.Active, "active", 0.1, "share of the users who are active at once")
	f.IntVar(&o.Servers, "servers", 1, "servers on the same stores")
	f.DurationVar(&o.For, "for", 10*time.Minute, "how long")
	f.Float64Var(&o.Rate, "rate", 0, "turns a second; 0: a share of the highest rate")
	f.Float64Var(&o.Share, "share", 0.7, "of the highest rate")
	f.DurationVar(&o.Step, "step", 5*time.Second, "how long each rate is tried to find the highest")
	f.DurationVar(&o.Rest, "rest", 10*time.Minute, "longest wait for an idle machine after the load")
	f.StringSliceVar(&contents, "contents", nil,
		"folders or files of conversations, whose turns are the memories and whose questions are the queries")
	settingsFlag(c, &o.Settings)
	jsonFlag(c, &file)
	return c
}

func yearsCommand() *cobra.Command {
	var file string
	var content bool
	o := years.Options{}
	c := &cobra.Command{
		Use: "years", Short: "How many memories a user has after years, by the rules of forgetting", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if content {
				r, err := years.RunContent(c.Context(), o, os.Stderr)
				if err != nil {
					return err
				}
				return deliver(r, file)
			}
			r, err := years.Run(o)
			if err != nil {
				return err
			}
			return deliver(r, file)
		},
	}
	f := c.Flags()
	f.BoolVar(&content, "content", false, "a server, and two users who say something in a year: what of it is found then")
	f.IntVar(&o.Years, "years", 10, "years of the user")
	f.IntVar(&o.Turns, "turns", 20, "turns a day")
	f.IntVar(&o.Recalled, "recalled", 10, "memories of its topic that each turn recalls")
	f.IntVar(&o.Topics, "topics", 500, "topics of the user, chosen by Zipf's law")
	f.StringArrayVar(&o.Settings, "set", nil, "a setting of a server, KEY=VALUE; may be repeated")
	jsonFlag(c, &file)
	return c
}
