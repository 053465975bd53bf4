package main

import (
	"context"

	"github.com/spf13/cobra"

	"hippocampus/cmd/bench/contradictions"
	"hippocampus/internal/bilingual"
	"hippocampus/internal/llm"
)

func judgeCommand() *cobra.Command {
	var url, model, half, everyday, file string
	var others []int
	c := &cobra.Command{
		Use: "judge FILE", Short: "What becomes of contradicting and of related statements", Args: cobra.ExactArgs(1),
		Example: "  bench judge ingest/judge/testdata/pairs.tsv\n" +
			"  bench judge ingest/judge/testdata/pairs.tsv --embedder http://127.0.0.1:8089/v1 " +
			"--embedder-model bge-small-zh-v1.5\n" +
			"  bench judge ingest/judge/testdata/oblique.tsv --half dev --everyday ingest/judge/testdata/everyday.tsv",
		RunE: func(c *cobra.Command, args []string) error {
			pairs, err := contradictions.Read(args[0])
			if err != nil {
				return err
			}
			embedder, err := embedderAt(c.Context(), url, model)
			if err != nil {
				return err
			}
			among := contradictions.Among{Counts: others}
			if everyday != "" {
				if among.Everyday, err = contradictions.Everyday(everyday); err != nil {
					return err
				}
			}
			r, err := contradictions.Run(c.Context(), embedder, pairs, half, among)
			if err != nil {
				return err
			}
			return deliver(r, file)
		},
	}
	f := c.Flags()
	f.StringVar(&url, "embedder", "", "base URL of an OpenAI-compatible embeddings endpoint; empty: the built-in embedder")
	f.StringVar(&model, "embedder-model", "bge-small-en-v1.5", "model of that endpoint")
	f.StringVar(&half, "half", "test", "dev: the pairs that the rules were made with; test: the others; all")
	f.StringVar(&everyday, "everyday", "", "file of what else the users state; empty: older statements of other pairs")
	f.IntSliceVar(&others, "others", []int{0, 40, 120, 400}, "how many of these")
	f.StringVar(&file, "json", "", "write the report to this file also, with the pairs that went wrong")
	return c
}

// embedderAt returns the embedder of an endpoint, or the built-in one without a URL.
func embedderAt(ctx context.Context, url, model string) (llm.Embedder, error) {
	if url == "" {
		return bilingual.New(), nil
	}
	return llm.NewClient(llm.Options{BaseURL: url}).Embedder(ctx, llm.EmbedderOptions{Model: model})
}
