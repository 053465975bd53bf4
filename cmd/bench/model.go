package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"hippocampus/cmd/bench/quality"
)

// modelFlags adds the flags that choose a chat model.
func modelFlags(c *cobra.Command) *quality.ChatModel {
	m := &quality.ChatModel{Key: os.Getenv("DEEPSEEK_API_KEY")}
	f := c.Flags()
	f.StringVar(&m.URL, "model", "",
		"base URL of an OpenAI-compatible endpoint whose chat model scores, judges and routes; its key is $DEEPSEEK_API_KEY")
	f.StringVar(&m.Name, "model-name", "deepseek-chat", "the chat model's name")
	f.StringVar(&m.Record, "record", "", "`file` that receives the chat model's prompts and answers")
	f.StringVar(&m.Replay, "replay", "", "`file` of a recording that answers in place of a chat model")
	return m
}

// isChosen reports whether the flags name a chat model.
func isChosen(m quality.ChatModel) (bool, error) {
	switch {
	case m.URL != "" && m.Replay != "":
		return false, errors.New("give --model or --replay")
	case m.Record != "" && m.URL == "":
		return false, errors.New("--record needs --model: the endpoint whose answers are recorded")
	}
	return m.URL != "" || m.Replay != "", nil
}

// measureQuality measures with a chat model if the flags name one, else without.
func measureQuality(ctx context.Context, o quality.Options, m quality.ChatModel) (quality.Report, error) {
	chosen, err := isChosen(m)
	switch {
	case err != nil:
		return quality.Report{}, err
	case !chosen:
		return quality.Run(ctx, o)
	case !o.Turns || o.Ablate || o.Contexts || o.Doubts || o.Routes:
		return quality.Report{}, errors.New("a chat model is measured with --through turns alone")
	}
	return quality.RunWithModel(ctx, o, m)
}
