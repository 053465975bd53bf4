package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"hippocampus/cmd/bench/quality"
	"hippocampus/cmd/bench/target"
	"hippocampus/internal/llm/llmtest"
)

// costCommand counts what reported conversations cost. Without an endpoint, a scripted
// model answers.
func costCommand() *cobra.Command {
	var size, file, roles string
	var settings []string
	c := &cobra.Command{
		Use: "cost DIR|FILE...", Short: "Calls of a chat model and their tokens, by prompt, for reported turns",
		Args: cobra.MinimumNArgs(1), Example: "  bench cost DIR\n  bench cost DIR --model https://api.deepseek.com/v1",
	}
	m := quality.ChatModel{Key: os.Getenv("DEEPSEEK_API_KEY")}
	c.RunE = func(c *cobra.Command, paths []string) error {
		if roles != string(quality.AllUsers) && roles != string(quality.WithAssistant) {
			return errors.New("--roles is user or assistant")
		}
		if m.URL == "" {
			server, err := llmtest.Start("127.0.0.1:0")
			if err != nil {
				return err
			}
			defer server.Close()
			server.OnChat(llmtest.Rules)
			m.URL, m.Name = server.URL(), "scripted"
		}
		cost, err := quality.MeasureCost(c.Context(), quality.Options{
			Size: target.Size(size), Settings: settings, Paths: paths, Roles: quality.Roles(roles), Progress: os.Stderr,
		}, m)
		if err != nil {
			return err
		}
		return deliver(cost, file)
	}
	f := c.Flags()
	sizeFlag(c, &size, target.Small)
	f.StringVar(&m.URL, "model", "",
		"base URL of an OpenAI-compatible endpoint, its key in $DEEPSEEK_API_KEY; empty: a scripted model answers by rules")
	f.StringVar(&m.Name, "model-name", "deepseek-chat", "the chat model's name")
	f.StringVar(&roles, "roles", string(quality.AllUsers),
		"user: all speakers of reported turns are users; assistant: the second one is the assistant")
	settingsFlag(c, &settings)
	jsonFlag(c, &file)
	return c
}
