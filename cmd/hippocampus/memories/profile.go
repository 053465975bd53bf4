package memories

import (
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/terminal"
	"hippocampus/internal/wire"
)

func (p program) profile() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "List what holds about a user, whatever is asked",
		Long: `List what holds about a user, whatever is asked: who the user is, what the user prefers, who is around and what
is planned, the most important first. It counts as no access.`,
		Example:     "  hippocampus profile --user ada\n  hippocampus profile --user ada --limit 5 --as-of 2026-01-31",
		Annotations: map[string]string{Routes: "GET /v1/users/{user_id}/profile"},
		Args:        cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.Int("limit", 0, "the most memories (default what the server shows)")
	flags.String("agent", "", "also memories that are private to this `agent`")
	timeFlag(cmd, "as-of", "the profile as it was at this `time`")
	return p.command(cmd, options{user: true}, func(a *action, _ []string) error {
		user, err := a.NeedUser()
		if err != nil {
			return err
		}
		query := url.Values{}
		for flag, name := range map[string]string{"limit": "limit", "agent": "agent_id", "as-of": "as_of"} {
			if flags.Changed(flag) {
				query.Set(name, flags.Lookup(flag).Value.String())
			}
		}
		var found struct {
			Memories []struct {
				Section string
				Score   float64
				Memory  wire.Memory
			}
		}
		path := "/v1/users/" + url.PathEscape(user) + "/profile?" + query.Encode()
		if err := a.call("GET", path, nil, &found); err != nil || a.json {
			return err
		}
		if len(found.Memories) == 0 {
			a.note("Nothing is known of %s yet.", user)
			return nil
		}
		id, rows := shownID(a.Screen), make([][]string, len(found.Memories))
		for i, m := range found.Memories {
			rows[i] = []string{
				id(m.Memory.ID), m.Section, fmt.Sprintf("%.2f", m.Score), age(a.Screen, m.Memory.CreatedAt),
				terminal.Line(m.Memory.Content),
			}
		}
		a.Table([]terminal.Column{
			{Title: "ID", Style: terminal.Cyan}, {Title: "ABOUT"}, {Title: "SCORE", Right: true},
			{Title: "CREATED", Style: terminal.Faint}, {Title: "MEMORY", Grows: true},
		}, rows)
		return nil
	})
}
