package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"hippocampus/internal/text"
	"hippocampus/server/app"
	"hippocampus/server/trial"
)

func promptsCommand(o *overrides, host app.Host) *cobra.Command {
	cmd := &cobra.Command{
		Use: "prompts", Short: "List the prompts of the server, and try one", Args: noSubcommand, RunE: help,
		Example: "  hippocampus prompts list",
	}
	cmd.AddCommand(listPromptsCommand(), tryPromptCommand(o, host))
	return cmd
}

func listPromptsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the prompts with the fields of their input", Args: cobra.NoArgs,
		Example: "  hippocampus prompts list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "PROMPT\tUSE\tINPUT")
			for _, p := range trial.Prompts {
				fmt.Fprintf(table, "%s\t%s\t%s\n", p.Name, p.Use, p.Input)
			}
			return table.Flush()
		},
	}
}

func tryPromptCommand(o *overrides, host app.Host) *cobra.Command {
	return &cobra.Command{
		Use:   "try FILE",
		Short: "Render a prompt; with a chat key, show the model's answer and what the server makes of it",
		Long: `Render a prompt for the input in a YAML or JSON file (- for standard input). With a chat key (chat.api_key),
ask the model also, and show its answer and what the server makes of it. Nothing is stored.

    prompt: score
    at: 2026-03-02T10:00:00Z
    messages:
      - {role: user, content: I moved to Bergen last week.}

docs/prompts has an input for each prompt.`,
		Example: "  hippocampus prompts try docs/prompts/score.en.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := o.load()
			if err != nil {
				return err
			}
			input, err := readTrial(cmd.InOrStdin(), args[0])
			if err != nil {
				return err
			}
			tried, err := app.TryPrompt(cmd.Context(), cfg, host, input)
			if err != nil {
				return err
			}
			printTried(cmd.OutOrStdout(), tried)
			return nil
		},
	}
}

// readTrial reads YAML, which includes JSON.
func readTrial(in io.Reader, name string) (input trial.Input, err error) {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return input, err
		}
		defer file.Close()
		in = file
	}
	var value any
	if err := yaml.NewDecoder(in).Decode(&value); err != nil {
		return input, fmt.Errorf("%s is neither YAML nor JSON: %w", name, err)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return input, fmt.Errorf("%s is not the input of a prompt: %w", name, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&input); err != nil {
		return input, fmt.Errorf("%s is not the input of a prompt: %w", name, err)
	}
	return input, nil
}

func printTried(out io.Writer, tried trial.Outcome) {
	section := func(format string, args ...any) { fmt.Fprintf(out, "--- "+format+"\n", args...) }
	p := tried.Prompt
	section("system, %d tokens", text.CountTokens(p.System))
	fmt.Fprintln(out, strings.TrimSpace(p.System))
	section("user, %d tokens", text.CountTokens(p.User))
	fmt.Fprintln(out, strings.TrimSpace(p.User))
	if tried.Model == "" {
		section("no model is asked, since there is no chat key (chat.api_key, DEEPSEEK_API_KEY)")
		return
	}
	for _, r := range tried.Readings {
		section("answer of %s, %d tokens: %s", tried.Model, text.CountTokens(r.Answer), r.Outcome)
		fmt.Fprintln(out, strings.TrimSpace(r.Answer))
		for _, why := range r.Why {
			fmt.Fprintf(out, "! %s\n", why)
		}
	}
	section("what the server makes of it")
	if tried.Err != nil {
		fmt.Fprintf(out, "refused: %s\n", tried.Err)
		return
	}
	for _, m := range tried.Made {
		fmt.Fprintf(out, "%s: %s", m.Verdict, m.Content)
		if m.Note != "" {
			fmt.Fprintf(out, " (%s)", m.Note)
		}
		fmt.Fprintln(out)
	}
	if len(tried.Made) == 0 {
		fmt.Fprintln(out, "nothing")
	}
}
