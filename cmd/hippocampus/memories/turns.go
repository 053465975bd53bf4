package memories

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/connection"
	"hippocampus/cmd/hippocampus/exit"
	"hippocampus/cmd/hippocampus/terminal"
)

// TurnCommands returns the commands that concern the turns of a user or of the app.
func TurnCommands(sources connection.Sources) []*cobra.Command {
	p := program{sources}
	return []*cobra.Command{p.reprocess(), p.reprocessings(), p.undoReprocessing()}
}

// reprocessing is a run as the server answers it.
type reprocessing struct {
	ID, UserID  string
	State, Note string
	Counts      struct{ Turns, Skipped, Failed, Added, Kept, Removed, Undone int }
	CreatedAt   time.Time `json:"created_at"`
}

// rescored is what scoring a turn again would change.
type rescored struct {
	TurnID               string `json:"turn_id"`
	At                   time.Time
	Added, Kept, Removed []struct{ Content, Reason string }
	Skipped              string
}

func (p program) reprocess() *cobra.Command {
	var all, dryRun bool
	var limit int
	cmd := &cobra.Command{
		Use:   "reprocess",
		Short: "Score turns again, such as with a model that came later",
		Long: `Score processed turns again with the scorer and the policy of now, in the background.

What is stated again stays, what is stated no longer is forgotten, and what is new is added. What you have edited,
pinned, forgotten or restored stays as you left it. "hippocampus turns undo" changes everything back.`,
		Example: `  hippocampus turns reprocess --user ada --scorer rules --dry-run
  hippocampus turns reprocess --user ada --scorer rules
  hippocampus turns reprocess --user dora --older-policy --from 2026-01-31`,
		Annotations: map[string]string{Routes: "POST /v1/turns/reprocess"},
		Args:        cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.BoolVar(&all, "all-users", false, "the turns of all users of the app, with a key of the role admin")
	flags.String("conversation", "", "only turns of this `conversation`")
	timeFlag(cmd, "from", "only turns that were said at this `time` or later")
	timeFlag(cmd, "until", "only turns that were said before this `time`")
	flags.String("scorer", "", "only turns that this `scorer` has read: rules, or the name of a model")
	flags.Int("policy-version", 0, "only turns that this `version` of the policy has decided about; 0: none")
	flags.Bool("older-policy", false, "only turns that an older policy has decided about")
	flags.BoolVar(&dryRun, "dry-run", false, "show what would change, and change nothing")
	flags.IntVar(&limit, "limit", 10, "with --dry-run: the `number` of turns to show")
	return p.command(cmd, options{user: true}, func(a *action, _ []string) error {
		request := map[string]any{}
		a.changed(request, map[string]string{
			"conversation": "conversation_id", "from": "from", "until": "until", "scorer": "scorer",
			"policy-version": "policy_version", "older-policy": "older_policy",
		})
		if !all {
			user, err := a.NeedUser()
			if err != nil {
				return err
			}
			request["user_id"] = user
		}
		if dryRun {
			return a.tryReprocess(request, limit)
		}
		var run reprocessing
		if err := a.call("POST", "/v1/turns/reprocess", request, &run); err != nil || a.json {
			return err
		}
		a.Printf("run %s has begun: `hippocampus turns runs` shows how far it is\n", a.Paint(terminal.Bold, run.ID))
		return nil
	})
}

// tryReprocess shows what would change of a number of turns.
func (a *action) tryReprocess(request map[string]any, limit int) error {
	if limit < 1 {
		return exit.Usagef("--limit is less than 1")
	}
	request["dry_run"] = true
	const most = 50
	for shown := 0; shown < limit; {
		request["limit"] = min(most, limit-shown)
		var page struct {
			Turns []rescored
			Next  string `json:"next_cursor"`
		}
		if err := a.call("POST", "/v1/turns/reprocess", request, &page); err != nil {
			return err
		}
		for _, t := range page.Turns {
			a.printRescored(t)
		}
		shown += len(page.Turns)
		if page.Next == "" {
			if !a.json && shown == 0 {
				a.note("No turn is chosen.")
			}
			return nil
		}
		request["cursor"] = page.Next
	}
	return nil
}

func (a *action) printRescored(t rescored) {
	if a.json {
		return
	}
	a.Printf("%s %s\n", t.TurnID, a.Paint(terminal.Faint, a.When(t.At)))
	for _, m := range t.Added {
		a.Indented("  + ", terminal.Green, terminal.Text(m.Content))
	}
	for _, m := range t.Removed {
		a.Indented("  - ", terminal.Red, terminal.Text(m.Content))
	}
	for _, m := range t.Kept {
		a.Indented("  = ", terminal.Plain, terminal.Text(m.Content+" ("+m.Reason+")"))
	}
	if t.Skipped != "" {
		a.Indented("  ! ", terminal.Plain, terminal.Text(t.Skipped))
	}
}

func (p program) reprocessings() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "runs",
		Short:       "List the runs that have scored turns again",
		Example:     "  hippocampus turns runs",
		Annotations: map[string]string{Routes: "GET /v1/reprocessings"},
		Args:        cobra.NoArgs,
	}
	return p.command(cmd, options{}, func(a *action, _ []string) error {
		var rows [][]string
		err := a.pages("/v1/reprocessings", url.Values{}, "reprocessings", 0, func(raw json.RawMessage) error {
			var r reprocessing
			err := a.decode(raw, &r)
			n := r.Counts
			did := fmt.Sprintf("%d turns: +%d -%d =%d, %d failed", n.Turns, n.Added, n.Removed, n.Kept, n.Failed)
			rows = append(rows, []string{r.ID, age(a.Screen, r.CreatedAt), r.State,
				terminal.Line(strings.TrimSpace(did + " " + r.Note))})
			return err
		})
		switch {
		case err != nil || a.json:
			return err
		case len(rows) == 0:
			a.note("No turns were scored again.")
			return nil
		}
		a.Table([]terminal.Column{
			{Title: "RUN"}, {Title: "BEGUN", Style: terminal.Faint}, {Title: "STATE"}, {Title: "CHANGED", Grows: true},
		}, rows)
		return nil
	})
}

func (p program) undoReprocessing() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "undo RUN",
		Short: "Change back what a run has changed",
		Long: "Change back what a run has changed, unless something else has changed it since. A run that goes on\n" +
			"is stopped.",
		Example:     "  hippocampus turns undo 0198c0de-0000-7000-8000-000000000001",
		Annotations: map[string]string{Routes: "POST /v1/reprocessings/{id}/undo"},
		Args:        exactly(1, "give the id of one run, as `hippocampus turns runs` prints it"),
	}
	return p.command(cmd, options{}, func(a *action, args []string) error {
		var run reprocessing
		path := "/v1/reprocessings/" + url.PathEscape(args[0]) + "/undo"
		if err := a.call("POST", path, nil, &run); err != nil || a.json {
			return err
		}
		a.Printf("the run is %s\n", a.Paint(terminal.Bold, terminal.Line(run.State)))
		return nil
	})
}
