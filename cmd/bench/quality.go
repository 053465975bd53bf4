package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"hippocampus/cmd/bench/quality"
	"hippocampus/cmd/bench/target"
)

func qualityCommand() *cobra.Command {
	var size, url, embedderModel, queryPrefix, file string
	var chat *quality.ChatModel
	var settings []string
	var through, roles string
	var ablate, contexts, doubts, routes, oracle bool
	c := &cobra.Command{
		Use: "quality DIR|FILE...", Short: "Recall and ranking quality on conversations with questions",
		Args: someConversations,
		Example: "  bench quality cmd/bench/testdata/zh\n" +
			"  bench quality DIR --embedder http://127.0.0.1:8089/v1 --embedder-model bge-small-en-v1.5 --ablate\n" +
			"  bench quality DIR --through turns --model https://api.deepseek.com/v1 --record recording.json",
		RunE: func(c *cobra.Command, paths []string) error {
			embedder := "built-in"
			if url != "" {
				embedder = embedderModel
				settings = append(embedderSettings(url, embedderModel, queryPrefix), settings...)
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
				Routes: routes, Oracle: oracle,
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
	settingsFlag(c, &settings)
	f.StringVar(&through, "through", "",
		"turns: report the conversations turn by turn as well, with --confidence instead, and ask by defaults")
	f.StringVar(&roles, "roles", string(quality.AllUsers),
		"user: all speakers of reported turns are users; assistant: the second one is the assistant")
	f.BoolVar(&ablate, "ablate", false, "measure once more without each part of the ranking, 7 d after the last turn")
	f.BoolVar(&contexts, "context", false,
		"measure what contexts of 500 to 4,000 tokens hold, instead of rankings")
	f.BoolVar(&doubts, "confidence", false,
		"measure the confidence of questions about their own and about other users, instead of rankings")
	f.BoolVar(&routes, "routed-candidates", false,
		"measure which evidence a search of the routed domains alone would add to the candidates, instead of rankings")
	f.BoolVar(&oracle, "rerank-oracle", false,
		"rerank by a model that knows the evidence, which shows the most that a reranker can give")
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
