package memories

import (
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/terminal"
	"hippocampus/internal/wire"
)

func (p program) facts() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "facts",
		Short: "List what is valid of a user, or was; state and end facts",
		Example: `  hippocampus facts --user ada
  hippocampus facts --user ada --at 2026-01-31 --type profile`,
		Annotations: map[string]string{Routes: "GET /v1/facts"},
		Args:        cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.String("type", "", "only facts of this `type`")
	flags.String("key", "", "only facts of this `key`")
	timeFlag(cmd, "at", "what was valid at this `time` (default now)")
	p.command(cmd, options{user: true}, func(a *action, _ []string) error {
		query := url.Values{}
		for _, name := range []string{"type", "key", "at"} {
			if value := flags.Lookup(name).Value.String(); value != "" {
				query.Set(name, value)
			}
		}
		return a.listFacts("/v1/facts", query)
	})
	cmd.AddCommand(p.setFact(), p.endFact(), p.factHistory())
	return cmd
}

func (p program) setFact() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "set TYPE KEY VALUE",
		Short: "State what is valid of a user",
		Long: `State what is valid of a user from an instant on. VALUE is JSON if it is valid JSON, else a text.

A statement that contradicts a surer one is refused.`,
		Example:     `  hippocampus facts set profile home_city Porto --user ada --from 2026-01-31`,
		Annotations: map[string]string{Routes: "PUT /v1/facts"},
		Args:        exactly(3, "give the type, the key and the value, such as: profile home_city Porto"),
	}
	flags := cmd.Flags()
	flags.Float64("confidence", 1, "how sure it is, 0 to 1")
	flags.String("source", "", "where it is from")
	timeFlag(cmd, "from", "when it became valid (default now)")
	timeFlag(cmd, "until", "when it ends (default it does not)")
	return p.command(cmd, options{user: true, makes: true}, func(a *action, args []string) error {
		user, err := a.NeedUser()
		if err != nil {
			return err
		}
		body := map[string]any{"user_id": user, "type": args[0], "key": args[1], "value": args[2]}
		if json.Valid([]byte(args[2])) {
			body["value"] = json.RawMessage(args[2])
		}
		a.changed(body, map[string]string{
			"confidence": "confidence", "source": "source", "from": "valid_from", "until": "valid_until",
		})
		var outcome struct{ Fact wire.Fact }
		if err := a.call("PUT", "/v1/facts", body, &outcome); err != nil || a.json {
			return err
		}
		f := outcome.Fact
		a.Printf("%s  %s: %s\n", a.Paint(terminal.Green, string(f.State)),
			terminal.Line(f.Type+"/"+f.Key+" = "+plain(f.Value)), terminal.Line(f.Reason))
		return nil
	})
}

func (p program) endFact() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "end TYPE KEY",
		Short:       "End what is valid of a user",
		Example:     `  hippocampus facts end profile home_city --user ada`,
		Annotations: map[string]string{Routes: "DELETE /v1/facts"},
		Args:        exactly(2, "give the type and the key, such as: profile home_city"),
	}
	timeFlag(cmd, "at", "from when on it is not valid (default now)")
	return p.command(cmd, options{user: true}, func(a *action, args []string) error {
		user, err := a.NeedUser()
		if err != nil {
			return err
		}
		query := url.Values{"user_id": {user}, "type": {args[0]}, "key": {args[1]}}
		if at := a.cmd.Flags().Lookup("at").Value.String(); at != "" {
			query.Set("at", at)
		}
		var ended wire.Fact
		if err := a.call("DELETE", "/v1/facts?"+query.Encode(), nil, &ended); err != nil || a.json {
			return err
		}
		a.Printf("%s  %s\n", a.Paint(terminal.Green, "ended"),
			terminal.Line(ended.Type+"/"+ended.Key+" = "+plain(ended.Value)))
		return nil
	})
}

func (p program) factHistory() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "history TYPE KEY",
		Short:       "List all evidence for a fact, in the order in which it came",
		Example:     `  hippocampus facts history profile home_city --user ada`,
		Annotations: map[string]string{Routes: "GET /v1/facts/history"},
		Args:        exactly(2, "give the type and the key, such as: profile home_city"),
	}
	return p.command(cmd, options{user: true}, func(a *action, args []string) error {
		return a.listFacts("/v1/facts/history", url.Values{"type": {args[0]}, "key": {args[1]}})
	})
}

func (a *action) listFacts(path string, query url.Values) error {
	user, err := a.NeedUser()
	if err != nil {
		return err
	}
	query.Set("user_id", user)
	var rows [][]string
	err = a.pages(path, query, "facts", 0, func(raw json.RawMessage) error {
		var f wire.Fact
		if err := a.decode(raw, &f); err != nil {
			return err
		}
		rows = append(rows, []string{
			terminal.Line(f.Type), terminal.Line(f.Key), date(f.ValidFrom), date(f.ValidUntil),
			fmt.Sprintf("%.2f", f.Confidence), string(f.State), plain(f.Value),
		})
		return nil
	})
	switch {
	case err != nil || a.json:
		return err
	case len(rows) == 0:
		a.note("%s has no such fact.", user)
		return nil
	}
	a.Table([]terminal.Column{
		{Title: "TYPE"}, {Title: "KEY", Style: terminal.Cyan}, {Title: "FROM", Style: terminal.Faint},
		{Title: "UNTIL", Style: terminal.Faint}, {Title: "SURE", Right: true}, {Title: "STATE"},
		{Title: "VALUE", Grows: true},
	}, rows)
	return nil
}

func date(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format(time.DateOnly)
}
