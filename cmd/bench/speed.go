package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/quality"
	"hippocampus/cmd/bench/speed"
	"hippocampus/cmd/bench/target"
)

func speedCommand() *cobra.Command {
	var size, file string
	var data, contents []string
	var check, loop bool
	o := speed.Options{Progress: os.Stderr}
	c := &cobra.Command{
		Use: "speed", Short: "The server and the bare clients of its stores, alternately", Args: cobra.NoArgs,
		Example: "  bench speed --data 100x1000\n" +
			"  bench speed --loop --contents DIR --size sqlite --check",
		RunE: func(c *cobra.Command, _ []string) error {
			o.Size = target.Size(size)
			if loop && !c.Flags().Changed("data") {
				data = []string{"50x100", "10x1000", "3x10000"}
			}
			texts, err := textsOf(contents)
			if err != nil {
				return err
			}
			for _, text := range data {
				d, err := content.Parse(text)
				if err != nil {
					return err
				}
				d.Texts = texts
				o.Data = append(o.Data, d)
			}
			var r checkable
			if loop {
				r, err = speed.RunAfterTurns(c.Context(), o)
			} else {
				r, err = speed.Run(c.Context(), o)
			}
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
	f.StringSliceVar(&data, "data", []string{"1000x100"}, "USERSxMEMORIES of each; each is a run on fresh stores")
	f.IntVar(&o.Replicas, "replicas", 1, "servers on the same stores, asked in turn")
	f.IntSliceVar(&o.Clients, "clients", []int{1, 8}, "recalling clients; each number is measured")
	f.DurationVar(&o.Slice, "slice", 3*time.Second, "how long the server and its floor take turns")
	f.IntVar(&o.Rounds, "rounds", 5, "turns of each")
	f.IntVar(&o.Dim, "dim", 0, "numbers in an embedding, from an instant endpoint; 0: the built-in embedder")
	f.BoolVar(&check, "check", false, "exit with 1 when a target is missed")
	f.BoolVar(&loop, "loop", false,
		"measure recalls alone and right after a turn of the user; --data is 50x100,10x1000,3x10000 by default")
	f.DurationVar(&o.Pause, "pause", 20*time.Millisecond, "with --loop, between two recalls")
	f.StringSliceVar(&contents, "contents", nil,
		"folders or files of conversations, whose turns are the memories and whose questions are the queries")
	f.DurationVar(&o.Rest, "rest", 10*time.Minute, "longest wait for an idle machine after a load")
	settingsFlag(c, &o.Settings)
	jsonFlag(c, &file)
	return c
}

// floorCommand runs the floor in a separate process; speed starts it.
func floorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "floor DATABASE MILVUS COLLECTION", Hidden: true, Args: cobra.ExactArgs(3),
		RunE: func(c *cobra.Command, args []string) error {
			return speed.ServeFloor(c.Context(), &target.Stores{Database: args[0], Milvus: args[1], Collection: args[2]},
				os.Stdin, os.Stdout)
		},
	}
}

func serversCommand() *cobra.Command {
	var data, file string
	o := speed.ServersOptions{Progress: os.Stderr}
	c := &cobra.Command{
		Use: "servers", Short: "Recalls a second of one server and of several on the same stores", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if o.Data, err = content.Parse(data); err != nil {
				return err
			}
			r, err := speed.RunServers(c.Context(), o)
			if err != nil {
				return err
			}
			return deliver(r, file)
		},
	}
	f := c.Flags()
	f.StringVar(&data, "data", "1000x100", "USERSxMEMORIES of each")
	f.IntVar(&o.Servers, "servers", 3, "1 to this many servers are measured")
	f.IntVar(&o.Clients, "clients", 16, "recalling clients")
	f.DurationVar(&o.Slice, "slice", 3*time.Second, "how long each number of servers takes its turn")
	f.IntVar(&o.Rounds, "rounds", 5, "turns of each")
	f.IntSliceVar(&o.ServerCores, "server-cores", nil, "the i-th server runs on the i-th of these cores alone")
	f.StringVar(&o.StoreCores, "store-cores", "", "cores of Postgres and Milvus while this measures, such as 0-1")
	f.DurationVar(&o.Rest, "rest", 10*time.Minute, "longest wait for an idle machine after the load")
	f.StringArrayVar(&o.Settings, "set", nil, "a setting of the servers, KEY=VALUE; may be repeated")
	jsonFlag(c, &file)
	return c
}

func slicesCommand() *cobra.Command {
	var size, file string
	o := speed.SlicesOptions{Progress: os.Stderr}
	c := &cobra.Command{
		Use: "slices", Short: "Slices of time, tags and the past of one user with many memories", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Size = target.Size(size)
			r, err := speed.RunSlices(c.Context(), o)
			if err != nil {
				return err
			}
			return deliver(r, file)
		},
	}
	f := c.Flags()
	sizeFlag(c, &size, target.Large)
	f.IntVar(&o.Memories, "memories", 100_000, "of the user")
	f.StringVar(&o.Only, "only", "", `requests whose names begin so, such as "page"`)
	f.DurationVar(&o.For, "for", 4*time.Second, "of each kind of request")
	settingsFlag(c, &o.Settings)
	jsonFlag(c, &file)
	return c
}

// checkable is the result of a measurement that has targets.
type checkable interface {
	report
	Check() error // lists every missed target
}

// textsOf reads the texts of conversations, if there are any.
func textsOf(paths []string) (texts content.Texts, err error) {
	if len(paths) == 0 {
		return texts, nil
	}
	texts.Contents, texts.Queries, err = quality.Texts(paths)
	return texts, err
}
