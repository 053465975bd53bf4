package memories

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/exit"
	"hippocampus/cmd/hippocampus/terminal"
)

func (p program) forget() *cobra.Command {
	var faded, yes, dryRun bool
	cmd := &cobra.Command{
		Use:   "forget ID...",
		Short: "Forget memories, after a preview",
		Long: `Forget memories, after a preview.

They leave recall with all that states the same, such as the messages that a fact was taken from, and "hippocampus
restore" brings everything back until it is purged. --only forgets the named memories alone.

With --faded, forget what nothing has recalled for long, as the schedule does. --at previews what will have faded by
then.`,
		Example: `  hippocampus forget 5a1fe2d9 --user ada --yes
  hippocampus forget --faded --user ada --dry-run
  hippocampus forget --faded --user ada --at 2030-01-31`,
		Annotations: map[string]string{
			Routes: "GET /v1/memories/{id}\nPOST /v1/memories/forget\nPOST /v1/forget",
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&faded, "faded", false, "forget what has faded, instead of memories by their ids")
	flags.BoolVar(&yes, "yes", false, "do not ask")
	flags.Bool("only", false, "forget the named memories alone, not what states the same")
	flags.BoolVar(&dryRun, "dry-run", false, "preview only")
	flags.Bool("whole", false, "with --faded: forget all at once, also more than the server's share of a run")
	timeFlag(cmd, "at", "with --faded: preview what will have faded at this `time`")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case faded && len(args) > 0:
			return exit.Usagef("--faded chooses the memories: leave the ids out")
		case !faded && len(args) == 0:
			return exit.Usagef("no memory is named: give its id, as `hippocampus list` shows it, or --faded")
		case !faded && (flags.Changed("at") || flags.Changed("whole")):
			return exit.Usagef("--at and --whole go with --faded")
		case faded && flags.Changed("only"):
			return exit.Usagef("--only goes with ids: --faded forgets each memory by itself")
		}
		return nil
	}
	return p.command(cmd, options{user: true}, func(a *action, args []string) error {
		if faded {
			return a.forgetFaded(yes, dryRun || flags.Changed("at"))
		}
		ids, err := a.resolve(args)
		if err != nil {
			return err
		}
		list, err := a.get(ids)
		if err != nil {
			return err
		}
		request := map[string]any{"ids": ids, "scope": "statement", "dry_run": true}
		if flags.Changed("only") {
			request["scope"] = "item"
		}
		if !a.json {
			PrintTable(a.Screen, list, true)
		}
		if dryRun || !a.json && !yes {
			if _, effects, err := a.forgetBy(request); err == nil && effects != "" && !a.json {
				a.Printf("other memories that state the same would be: %s\n", effects)
			}
		}
		agreed, err := a.agree(fmt.Sprintf("Forget %s?", count(len(ids), "memory", "memories")), yes, dryRun)
		if err != nil || !agreed {
			return err
		}
		request["dry_run"] = false
		forgotten, effects, err := a.forgetBy(request)
		if !a.json && (err == nil || forgotten > 0) {
			text := "forgot " + count(forgotten, "memory", "memories")
			if effects != "" {
				text += " (of others: " + effects + ")"
			}
			a.Printf("%s; `hippocampus restore` undoes it\n", text)
		}
		return err
	})
}

// agree asks whether to go on, unless yes or dryRun decides.
func (a *action) agree(question string, yes, dryRun bool) (bool, error) {
	if yes || dryRun {
		return !dryRun, nil
	}
	agreed, err := terminal.Confirm(a.cmd.InOrStdin(), a.cmd.ErrOrStderr(), question)
	if err == nil && !agreed {
		a.note("Nothing was changed.")
	}
	return agreed, err
}

// forgetBy sends a request to forget. It returns how many of the requested memories were forgotten, the effects on
// others, such as "2 forgotten, 1 shortened", and the last failure of an id.
func (a *action) forgetBy(request map[string]any) (forgotten int, effects string, failure error) {
	var answer struct {
		Results []struct {
			ID      string
			Effects []done
			Error   *problem
		}
	}
	if err := a.call("POST", "/v1/memories/forget", request, &answer); err != nil {
		return 0, "", err
	}
	var others []done
	for _, r := range answer.Results {
		others = append(others, r.Effects...)
		if r.Error == nil {
			forgotten++
			continue
		}
		failure = fmt.Errorf("memory %s: %s", r.ID, r.Error)
		a.note("%v", failure)
	}
	return forgotten, tally(others), failure
}

// tally counts what was done, such as "2 forgotten, 1 shortened".
func tally(all []done) string {
	times := map[string]int{}
	for _, each := range all {
		times[each.Done]++
	}
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(times)) {
		parts = append(parts, fmt.Sprintf("%d %s", times[what], terminal.Line(what)))
	}
	return strings.Join(parts, ", ")
}

// Forgetting is the answer of a run of forgetting, or of its preview.
type Forgetting struct {
	Active   int      `json:"active"`
	Due      int      `json:"due"`
	Stopped  string   `json:"stopped"`
	Warning  string   `json:"warning"`
	Memories []Fading `json:"memories"`

	Forgotten []string `json:"forgotten"`
}

// Fading is a memory with its retention.
type Fading struct {
	ID        string    `json:"id"`
	Content   string    `json:"content"`
	Retention float64   `json:"retention"`
	FadesAt   time.Time `json:"fades_at"`
	Faded     bool      `json:"faded"`
}

// forgetFaded forgets what has faded, after a preview.
func (a *action) forgetFaded(yes, preview bool) error {
	user, err := a.NeedUser()
	if err != nil {
		return err
	}
	body := map[string]any{"user_id": user}
	a.changed(body, map[string]string{"at": "at", "whole": "whole"})
	var answer Forgetting
	raw, err := a.fetch("POST", "/v1/forget", body, &answer)
	if err != nil {
		return err
	}
	if !a.json {
		PrintForgetting(a.Screen, answer)
	}
	if preview || answer.Due == 0 {
		if a.json {
			a.Printf("%s\n", raw)
		}
		return nil
	}
	question := fmt.Sprintf("Forget what has faded, %s?", count(answer.Due, "memory", "memories"))
	agreed, err := a.agree(question, yes, false)
	if err != nil || !agreed {
		return err
	}
	body["dry_run"] = false
	if err := a.call("POST", "/v1/forget", body, &answer); err != nil || a.json {
		return err
	}
	a.Printf("forgot %s; `hippocampus restore` undoes it\n",
		count(len(answer.Forgotten), "memory", "memories"))
	return nil
}

// PrintForgetting prints a preview of forgetting.
func PrintForgetting(s terminal.Screen, answer Forgetting) {
	id := shownID(s)
	rows := make([][]string, len(answer.Memories))
	for i, m := range answer.Memories {
		fades := "never"
		switch {
		case m.Faded:
			fades = "has faded"
		case !m.FadesAt.IsZero():
			fades = s.When(m.FadesAt)
		}
		rows[i] = []string{id(m.ID), fmt.Sprintf("%.2f", m.Retention), fades, terminal.Line(m.Content)}
	}
	s.Table([]terminal.Column{
		{Title: "ID", Style: terminal.Cyan}, {Title: "LEFT", Right: true}, {Title: "FADES"}, {Title: "MEMORY", Grows: true},
	}, rows)
	s.Printf("%d of %s faded\n", answer.Due, count(answer.Active, "active memory has", "active memories have"))
	for _, text := range []string{answer.Stopped, answer.Warning} {
		if text != "" {
			s.Printf("%s\n", s.Paint(terminal.Yellow, terminal.Line(text)))
		}
	}
}

func (p program) restore() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "restore ID...",
		Short:       "Bring forgotten memories back",
		Example:     "  hippocampus restore 5a1fe2d9 --user ada",
		Annotations: map[string]string{Routes: "POST /v1/memories/{id}/restore"},
		Args:        some("no memory is named: give its id; `hippocampus list --status forgotten` shows it"),
	}
	return p.each(cmd, "restored", func(a *action, id string) (json.RawMessage, error) {
		return a.Call(a.cmd.Context(), "POST", memoryPath(id)+"/restore", nil)
	})
}

func (p program) pin(pinned bool) *cobra.Command {
	use, short := "pin", "Keep memories from being forgotten by the schedule"
	if !pinned {
		use, short = "unpin", "Let memories fade again"
	}
	cmd := &cobra.Command{
		Use:         use + " ID...",
		Short:       short,
		Example:     "  hippocampus " + use + " 5a1fe2d9 --user ada",
		Annotations: map[string]string{Routes: "PATCH /v1/memories/{id}"},
		Args:        some("no memory is named: give its id, as `hippocampus list` shows it"),
	}
	return p.each(cmd, use+"ned", func(a *action, id string) (json.RawMessage, error) {
		return a.Call(a.cmd.Context(), "PATCH", memoryPath(id), map[string]any{"pinned": pinned})
	})
}

// each completes a command that changes memories one by one.
func (p program) each(
	cmd *cobra.Command, verb string, change func(*action, string) (json.RawMessage, error),
) *cobra.Command {
	return p.command(cmd, options{user: true}, func(a *action, args []string) error {
		ids, err := a.resolve(args)
		if err != nil {
			return err
		}
		for _, id := range ids {
			raw, err := change(a, id)
			if err != nil {
				return err
			}
			if a.json {
				a.Printf("%s\n", raw)
				continue
			}
			var m struct{ ID, Content string }
			if err := a.decode(raw, &m); err != nil {
				return err
			}
			a.done(verb, m.ID, m.Content)
		}
		return nil
	})
}

// count returns a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
