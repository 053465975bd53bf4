package memories

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/connection"
	"hippocampus/cmd/hippocampus/terminal"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
)

// completionTime bounds how long a completion waits for a server.
const completionTime = 2 * time.Second

// completer returns the completions of a word.
type completer = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective)

// complete completes the values of a flag.
func complete(cmd *cobra.Command, flag string, values completer) {
	if cmd.Flags().Lookup(flag) != nil {
		_ = cmd.RegisterFlagCompletionFunc(flag, values) // fails only for unknown flags
	}
}

// completeNames completes types and domains.
func completeNames(cmd *cobra.Command) {
	types := make([]string, len(memory.Types))
	for i, t := range memory.Types {
		types[i] = string(t)
	}
	domains := make([]string, len(memory.Domains))
	for i, d := range memory.Domains {
		domains[i] = string(d)
	}
	complete(cmd, "type", fixed(types...))
	complete(cmd, "domain", fixed(domains...))
}

func fixed(values ...string) completer {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
}

// completeUsers completes the users of the server.
func (p program) completeUsers(server *connection.Flags) completer {
	return p.asking(server, func(*connection.Session) string { return "/v1/users?limit=100" },
		func(raw json.RawMessage) (completions []cobra.Completion) {
			var page struct {
				Users []struct {
					UserID string `json:"user_id"`
				}
			}
			_ = json.Unmarshal(raw, &page)
			for _, u := range page.Users {
				completions = append(completions, terminal.Line(u.UserID))
			}
			return completions
		})
}

// completeIDs completes the ids of the user's newest memories, described by their contents.
func (p program) completeIDs(server *connection.Flags) completer {
	path := func(s *connection.Session) string {
		query := url.Values{"user_id": {s.User}, "limit": {"100"}, "status": statuses()}
		return "/v1/memories?" + query.Encode()
	}
	return p.asking(server, path, func(raw json.RawMessage) (completions []cobra.Completion) {
		var page struct{ Memories []wire.Memory }
		_ = json.Unmarshal(raw, &page)
		for _, m := range page.Memories {
			content := terminal.Truncate(terminal.Line(m.Content), 60)
			completions = append(completions, cobra.CompletionWithDesc(m.ID, content))
		}
		return completions
	})
}

// asking completes by a request to the server. An error completes nothing: a completion must not disturb the line.
func (p program) asking(
	server *connection.Flags, path func(*connection.Session) string, read func(json.RawMessage) []cobra.Completion,
) completer {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if p.Given("data") || server.KeyFile == "-" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(context.Background(), completionTime)
		defer cancel()
		session, err := server.Open(ctx, cmd.InOrStdin())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		raw, err := session.Call(ctx, "GET", path(session), nil)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return read(raw), cobra.ShellCompDirectiveNoFileComp
	}
}
