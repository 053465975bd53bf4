package memories

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/connection"
	"hippocampus/cmd/hippocampus/terminal"
	"hippocampus/internal/memory"
)

// done is an effect on something else, such as another memory.
type done struct{ Done string }

// withdrawnTurn is a turn with the effects of its withdrawal.
type withdrawnTurn struct {
	Status   memory.TurnStatus
	At       time.Time
	Messages []struct{ Role, Content string }
	Effects  []done
	Facts    []done
}

func (p program) withdraw() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "withdraw TURN",
		Short: "Take back a turn that was reported, after it was shown",
		Long: `Take back a turn that was reported, after it was shown.

What was remembered of it is forgotten with what was derived from it, and what it superseded is active again. No restore
undoes that. TURN is the id of the server, which "hippocampus show" prints of each memory, or that of the client.`,
		Example:     "  hippocampus withdraw chat-81-turn-7 --yes",
		Annotations: map[string]string{Routes: "GET /v1/turns/{id}\nDELETE /v1/turns/{id}"},
		Args:        exactly(1, "give the id of one turn, as `hippocampus show` prints it of a memory"),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	p.command(cmd, options{user: true}, func(a *action, args []string) error {
		path := "/v1/turns/" + url.PathEscape(args[0])
		var turn withdrawnTurn
		if _, err := a.fetch("GET", path, nil, &turn); err != nil {
			return err
		}
		if turn.Status == memory.TurnWithdrawn && !a.json {
			a.note("The turn was withdrawn before.")
			return nil
		}
		if !a.json {
			a.Printf("%s\n", a.Paint(terminal.Faint, a.When(turn.At)))
			for _, m := range turn.Messages {
				a.Indented("  ", terminal.Plain, m.Role+": "+terminal.Text(m.Content))
			}
		}
		agreed, err := a.agree("Withdraw this turn? No restore undoes that.", yes, false)
		if err != nil || !agreed {
			return err
		}
		if err := a.call("DELETE", path, nil, &turn); err != nil || a.json {
			return err
		}
		a.Printf("%s the turn%s\n", a.Paint(terminal.Green, "withdrew"), consequences(turn))
		return nil
	})
	return cmd
}

// consequences states the effects of withdrawing a turn, such as ": memories 2 forgotten, 1 restored; facts 1
// restored".
func consequences(turn withdrawnTurn) string {
	var parts []string
	for _, of := range []struct {
		name string
		all  []done
	}{{"memories", turn.Effects}, {"facts", turn.Facts}} {
		if len(of.all) > 0 {
			parts = append(parts, of.name+" "+tally(of.all))
		}
	}
	if len(parts) == 0 {
		return ", of which nothing was remembered"
	}
	return ": " + strings.Join(parts, "; ")
}

// completeTurns completes the ids of the user's newest turns, described by their times.
func (p program) completeTurns(server *connection.Flags) completer {
	path := func(s *connection.Session) string {
		query := url.Values{"limit": {"100"}}
		if s.User != "" {
			query.Set("user_id", s.User)
		}
		return "/v1/turns?" + query.Encode()
	}
	return p.asking(server, path, func(raw json.RawMessage) (completions []cobra.Completion) {
		var page struct {
			Turns []struct {
				ID     string
				Status memory.TurnStatus
				At     time.Time
			}
		}
		_ = json.Unmarshal(raw, &page)
		for _, turn := range page.Turns {
			if turn.Status != memory.TurnWithdrawn {
				completions = append(completions, cobra.CompletionWithDesc(turn.ID, terminal.Date(turn.At)))
			}
		}
		return completions
	})
}
