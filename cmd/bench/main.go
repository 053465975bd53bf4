// Command bench measures a server against a floor, and its recall against
// questions with known answers:
//
//	bench quality DIR...   conversations -> R@k, nDCG, MRR; with --context, evidence in contexts;
//	                       with --confidence, what it is for questions about other users
//	bench cost DIR...      conversations -> calls of a chat model and their tokens, by prompt
//	bench fit FILE...      reports of quality --confidence -> coefficients of confidence
//	bench speed            server and bare clients on the same data -> ratios;
//	                       with --loop, recalls after a turn of the user -> ratio to recalls alone
//	bench peers            the load shape that other memory servers were measured with
//	bench slices           one user with many memories -> intervals of time, tags, the past
//	bench context          whole prompts of growing conversations
//	bench messages         turns with and without messages -> rows, bytes, times
//	bench soak             mixed traffic for minutes -> growth, errors, equal stores
//
// Each command builds the server, starts it on its own stores, prints a table and
// writes JSON. docs/benchmarks.md lists the results and the commands.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"hippocampus/cmd/bench/quality"
	"hippocampus/cmd/bench/speed"
	"hippocampus/cmd/bench/target"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	root := &cobra.Command{Use: "bench", Short: "Measure a Hippocampus server", SilenceUsage: true}
	root.AddCommand(qualityCommand(), judgeCommand(),
		costCommand(), fitCommand(), speedCommand(), peersCommand(), slicesCommand(),
		contextCommand(), soakCommand(), messagesCommand(), floorCommand())
	err := root.ExecuteContext(ctx)
	stop()
	if err != nil {
		os.Exit(1)
	}
}

// report is the result of a measurement.
type report interface{ Print(io.Writer) error }

// checkable is the result of a measurement that has targets.
type checkable interface {
	report
	Check() error // lists every missed target
}

// textsOf reads the texts of conversations, if there are any.
func textsOf(paths []string) (texts speed.Texts, err error) {
	if len(paths) == 0 {
		return texts, nil
	}
	texts.Contents, texts.Queries, err = quality.Texts(paths)
	return texts, err
}

func deliver(r report, file string) error {
	if err := r.Print(os.Stdout); err != nil || file == "" {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

func qualityCommand() *cobra.Command {
	var size, url, embedderModel, queryPrefix, file string
	var chat *quality.ChatModel
	var settings []string
	var through, roles string
	var ablate, contexts, doubts bool
	c := &cobra.Command{
		Use: "quality DIR|FILE...", Short: "Recall and ranking quality on conversations with questions",
		Args: func(_ *cobra.Command, paths []string) error {
			if len(paths) == 0 {
				return errors.New("name the folders or files that hold conversations, such as cmd/bench/testdata/zh")
			}
			return nil
		},
		Example: "  bench quality cmd/bench/testdata/zh\n" +
			"  bench quality DIR --embedder http://127.0.0.1:8089/v1 --embedder-model bge-small-en-v1.5 --ablate\n" +
			"  bench quality DIR --through turns --model https://api.deepseek.com/v1 --record recording.json",
		RunE: func(c *cobra.Command, paths []string) error {
			embedder := "built-in"
			if url != "" {
				embedder = embedderModel
				settings = append([]string{
					"QWEN_API_KEY=bench", "QWEN_API_BASE=" + url, "MEMORY_EMBEDDING_MODEL=" + embedderModel,
					"HIPPOCAMPUS_EMBEDDING_QUERY_PREFIX=" + queryPrefix,
				}, settings...)
			}
			if through != "" && through != "turns" {
				return fmt.Errorf("--through %s: leave it out, or give turns", through)
			}
			if roles != string(quality.AllUsers) && roles != string(quality.WithAssistant) {
				return fmt.Errorf("--roles %s: give user or assistant", roles)
			}
			o := quality.Options{
				Size: target.Size(size), Settings: settings, Paths: paths, Ablate: ablate,
				Turns: through != "", Roles: quality.Roles(roles), Contexts: contexts, Doubts: doubts,
				Progress: os.Stderr,
			}
			r, err := measureQuality(c.Context(), o, *chat)
			if err != nil {
				return err
			}
			r.Embedder, r.Settings = embedder, settings
			return deliver(r, file)
		},
	}
	chat = modelFlags(c)
	f := c.Flags()
	sizeFlag(c, &size, target.Small)
	f.StringVar(&url, "embedder", "", "base URL of an OpenAI-compatible embeddings endpoint; empty: the built-in embedder")
	f.StringVar(&embedderModel, "embedder-model", "bge-small-en-v1.5", "model of that endpoint")
	f.StringVar(&queryPrefix, "query-prefix", "", "what the model wants before a query")
	f.StringArrayVar(&settings, "set", nil, "a setting of the server, KEY=VALUE; may be repeated")
	f.StringVar(&through, "through", "", "turns: report the conversations turn by turn as well, and ask by defaults")
	f.StringVar(&roles, "roles", string(quality.AllUsers),
		"user: all speakers of reported turns are users; assistant: the second one is the assistant")
	f.BoolVar(&ablate, "ablate", false, "measure once more without each part of the ranking, 7 d after the last turn")
	f.BoolVar(&contexts, "context", false,
		"measure what contexts of 500 to 4,000 tokens hold, instead of rankings")
	f.BoolVar(&doubts, "confidence", false,
		"measure the confidence of questions about their own and about other users, instead of rankings")
	jsonFlag(c, &file)
	return c
}

func fitCommand() *cobra.Command {
	return &cobra.Command{
		Use: "fit FILE...", Short: "Fit the coefficients of confidence to reports of quality --confidence --json",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, files []string) error {
			coefficients, err := quality.Fit(files)
			if err != nil {
				return err
			}
			return deliver(coefficients, "")
		},
	}
}

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
				d, err := speed.ParseData(text)
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
	f.StringArrayVar(&o.Settings, "set", nil, "a setting of the server, KEY=VALUE; may be repeated")
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

// peersCommand uses the load shape that mem0 2.2.1 was measured with on such a
// machine: 8 clients of its server made 97 recalls a second at a p50 of 80 ms.
func peersCommand() *cobra.Command {
	var size, file string
	o := speed.Options{
		Data: []speed.Data{{Users: 100, Each: 200}}, Clients: []int{1, 8}, Replicas: 1, Dim: 384,
		Slice: 3 * time.Second, Rounds: 5, Progress: os.Stderr,
	}
	c := &cobra.Command{
		Use: "peers", Short: "20,000 memories of 100 users, 384 numbers, 1 and 8 clients over HTTP", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Size = target.Size(size)
			r, err := speed.Run(c.Context(), o)
			if err != nil {
				return err
			}
			return deliver(r, file)
		},
	}
	sizeFlag(c, &size, target.Large)
	jsonFlag(c, &file)
	return c
}

func soakCommand() *cobra.Command {
	var size, data, file string
	o := speed.SoakOptions{Progress: os.Stderr}
	c := &cobra.Command{
		Use: "soak", Short: "Minutes of mixed traffic: growth, errors, equal stores", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			o.Size = target.Size(size)
			if o.Data, err = speed.ParseData(data); err != nil {
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
	f.StringArrayVar(&o.Settings, "set", nil, "a setting of the server, KEY=VALUE; may be repeated")
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
	f.DurationVar(&o.For, "for", 4*time.Second, "of each kind of request")
	f.StringArrayVar(&o.Settings, "set", nil, "a setting of the server, KEY=VALUE; may be repeated")
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
			if o.Data, err = speed.ParseData(data); err != nil {
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
	f.StringArrayVar(&o.Settings, "set", nil, "a setting of the server, KEY=VALUE; may be repeated")
	jsonFlag(c, &file)
	return c
}

func sizeFlag(c *cobra.Command, size *string, standard target.Size) {
	c.Flags().StringVar(size, "size", string(standard),
		fmt.Sprintf("%s or %s (on the stores of DATABASE_URL, MILVUS_HOST, MILVUS_PORT)", target.Small, target.Large))
	c.PreRunE = func(*cobra.Command, []string) error {
		if *size != string(target.Small) && *size != string(target.Large) {
			return fmt.Errorf("--size is %s or %s", target.Small, target.Large)
		}
		return nil
	}
}

func jsonFlag(c *cobra.Command, file *string) {
	c.Flags().StringVar(file, "json", "", "file to write the results to")
}
