package memories

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/terminal"
)

func (p program) context() *cobra.Command {
	why, messages := false, false
	cmd := &cobra.Command{
		Use:   "context [QUERY...]",
		Short: "Print what a model needs to know, ready for a prompt",
		Long: `Print what a model needs to know, ready for a prompt: instructions, facts, memories and the conversation, in
at most a budget.

Standard output has the text alone. With --messages it has a JSON list of chat messages.`,
		Example: `  hippocampus context "What should I cook for Ada?" --user ada --tokens 300
  hippocampus context "What should I cook for Ada?" --user ada --why
  hippocampus context allergies --user ada --messages`,
		Annotations: map[string]string{Routes: "POST /v1/context"},
		Args:        cobra.ArbitraryArgs,
	}
	flags := cmd.Flags()
	flags.BoolVar(&why, "why", false, "print what each part took and what was left out, on standard error")
	flags.BoolVar(&messages, "messages", false, "print chat messages as JSON")
	flags.Int("tokens", 0, "the most `tokens` (default 1000 if neither --chars nor --model is given)")
	flags.Int("chars", 0, "the most `characters`")
	flags.Int("limit", 0, "the most memories, 1 to 100 (default as many as the budget holds)")
	flags.String("model", "", "the `model` that the context is for, whose window is the budget")
	flags.String("language", "", "of the headings: en or zh (default that of the memories)")
	flags.Bool("touch", true, "count as an access of what is returned")
	cmd.MarkFlagsMutuallyExclusive("tokens", "chars")
	cmd.MarkFlagsMutuallyExclusive("model", "chars")
	recallFlags(cmd)
	complete(cmd, "language", fixed("en", "zh"))
	return p.command(cmd, options{user: true}, func(a *action, args []string) error {
		body, err := a.query(args)
		if err != nil {
			return err
		}
		a.changed(body, map[string]string{
			"tokens": "max_tokens", "chars": "max_chars", "limit": "limit", "model": "model", "language": "language",
			"touch": "touch",
		})
		if messages {
			body["format"] = "messages"
		}
		var answer contextAnswer
		if err := a.call("POST", "/v1/context", body, &answer); err != nil || a.json {
			return err
		}
		if messages {
			a.Printf("%s\n", answer.Messages)
		} else if answer.Text != "" {
			a.Printf("%s\n", terminal.Text(answer.Text))
		}
		if why {
			a.explain(answer)
		}
		a.warnOfDegraded(answer.Degraded)
		return nil
	})
}

type contextAnswer struct {
	Text     string
	Messages json.RawMessage
	Size     struct {
		Unit         string
		Budget, Used int
	}
	Parts []struct {
		Part                string
		Budget, Used, Items int
	}
	LeftOut []struct{ Part, ID, Reason string } `json:"left_out"`

	Degraded []string
}

// explain prints how the budget was used, on standard error.
func (a *action) explain(answer contextAnswer) {
	side := a.Screen
	side.Writer = a.cmd.ErrOrStderr()
	rows := [][]string{}
	for _, part := range answer.Parts {
		rows = append(rows, []string{part.Part, fmt.Sprint(part.Items), fmt.Sprint(part.Used), fmt.Sprint(part.Budget)})
	}
	size := answer.Size
	rows = append(rows, []string{"whole", "", fmt.Sprint(size.Used), fmt.Sprint(size.Budget)})
	side.Table([]terminal.Column{
		{Title: "PART"}, {Title: "ITEMS", Right: true},
		{Title: size.Unit + " USED", Right: true}, {Title: "BUDGET", Right: true},
	}, rows)
	for _, left := range answer.LeftOut {
		side.Printf("left out: %s %s (%s)\n", left.Part, terminal.Line(left.ID), left.Reason)
	}
}
