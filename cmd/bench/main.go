// Command bench measures a server against a floor, and its recall against
// questions with known answers:
//
//	bench quality DIR...   conversations -> R@k, nDCG, MRR; with --context, evidence in contexts;
//	                       with --confidence, confidence in questions about other users
//	bench answers DIR...   conversations with answers -> how often contexts literally hold them
//	bench recollect DIR... conversations, half faded -> recollected memories, rightly and wrongly, times
//	bench cost DIR...      conversations -> calls of a chat model and their tokens, by prompt
//	bench fit FILE...      reports of quality --confidence -> coefficients of confidence
//	bench speed            server and bare clients on the same data -> ratios;
//	                       with --loop, recalls after a turn of the user -> ratio to recalls alone
//	bench peers DIR...     conversations -> this server, mem0 and Hindsight: quality, times, CPU, memory
//	bench slices           one user with many memories -> intervals of time, tags, the past
//	bench context          whole prompts of growing conversations
//	bench messages         turns with and without messages -> rows, bytes, times
//	bench overload         more clients than a server has room for -> what is served, what is shed
//	bench loop             contexts and turns of users of all sizes -> percentiles, CPU, memory
//	bench proxy            the OpenAI-compatible proxy and a plain reverse proxy -> first byte, open streams
//	bench servers          one server and several on the same stores -> recalls a second
//	bench years            rules of forgetting -> memories of a user after years
//	bench changes          changes of mind through turns -> is the latest statement first, is a former one returned
//	bench times            questions that name a time, in two languages and three zones -> is the answer first
//	bench long             messages of 3,000 characters -> how much of them is in contexts
//	bench soak             mixed traffic for minutes -> growth, errors, equal stores
//
// Each command builds the server, starts it on its own stores, prints a table and
// writes JSON. docs/benchmarks.md lists the results and the commands.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"hippocampus/cmd/bench/target"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	root := &cobra.Command{Use: "bench", Short: "Measure a Hippocampus server", SilenceUsage: true}
	root.AddCommand(conversationCommands()...)
	root.AddCommand(qualityCommand(), judgeCommand(),
		costCommand(), fitCommand(), speedCommand(), peersCommand(), slicesCommand(),
		contextCommand(), overloadCommand(), soakCommand(), loopCommand(), serversCommand(), messagesCommand(),
		yearsCommand(), changesCommand(), timesCommand(), chineseCommand(),
		proxyCommand(), floorCommand(), reverseCommand())
	err := root.ExecuteContext(ctx)
	stop()
	if err != nil {
		os.Exit(1)
	}
}

// report is the result of a measurement.
type report interface{ Print(io.Writer) error }

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

func settingsFlag(c *cobra.Command, settings *[]string) {
	c.Flags().StringArrayVar(settings, "set", nil, "a setting of the server, KEY=VALUE; may be repeated")
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
