package memories

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/terminal"
	"hippocampus/internal/wire"
)

func (p program) list() *cobra.Command {
	limit, all := 0, false
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the memories of a user, newest first",
		Long: `List the memories of a user, newest first. Without --status only active ones are listed. * marks pinned ones.
ENDS says from when on a memory is former; the column is absent if no listed memory has an end.

A terminal shows the end of each id, which the other commands accept; a pipe gets whole ids and exact times.`,
		Example: `  hippocampus list --user ada
  hippocampus list --user ada --type fact --status superseded --limit 5
  hippocampus list --user ada --all --json`,
		Annotations: map[string]string{Routes: "GET /v1/memories"},
		Args:        cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.IntVar(&limit, "limit", 20, "the most memories")
	flags.BoolVar(&all, "all", false, "all memories")
	flags.StringArray("type", nil, "only this `type`; repeatable")
	flags.StringArray("domain", nil, "only this `domain`; repeatable")
	flags.StringArray("status", nil, "only this `status`; repeatable (default active)")
	flags.StringArray("tag", nil, "only memories with this `tag`; repeatable")
	flags.String("agent", "", "only memories that are private to this `agent`")
	flags.String("conversation", "", "only memories of this `conversation`")
	flags.Var(new(jsonValue), "filter", "only memories that this filter chooses, in `JSON`")
	timeFlag(cmd, "since", "only memories created at this `time` or later")
	timeFlag(cmd, "until", "only memories created before this `time`")
	timeFlag(cmd, "as-of", "the memories as they were at this `time`")
	completeNames(cmd)
	complete(cmd, "status", fixed(statuses()...))
	return p.command(cmd, options{user: true}, func(a *action, _ []string) error {
		user, err := a.NeedUser()
		if err != nil {
			return err
		}
		query := url.Values{"user_id": {user}}
		for _, name := range []string{"type", "domain", "status", "tag"} {
			if values, _ := flags.GetStringArray(name); len(values) > 0 {
				query[name] = values
			}
		}
		for flag, name := range map[string]string{
			"agent": "agent_id", "conversation": "conversation_id", "filter": "filter", "since": "since", "until": "until",
			"as-of": "as_of",
		} {
			if value := flags.Lookup(flag).Value.String(); value != "" {
				query.Set(name, value)
			}
		}
		if all {
			limit = 0
		}
		var found []wire.Memory
		err = a.pages("/v1/memories", query, "memories", limit, func(raw json.RawMessage) error {
			var m wire.Memory
			err := a.decode(raw, &m)
			found = append(found, m)
			return err
		})
		switch {
		case err != nil || a.json:
			return err
		case len(found) == 0:
			a.note("%s has no such memory.", user)
		default:
			PrintTable(a.Screen, found, flags.Changed("status"))
		}
		if !all && len(found) == limit {
			a.note("These are the newest %d; --all lists all.", limit)
		}
		return nil
	})
}

func (p program) show() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "show ID...",
		Short:       "Show memories with all their fields",
		Example:     "  hippocampus show 5a1fe2d9 --user ada",
		Annotations: map[string]string{Routes: "GET /v1/memories/{id}"},
		Args:        some("no memory is named: give its id, as `hippocampus list` shows it"),
	}
	return p.command(cmd, options{user: true}, func(a *action, args []string) error {
		ids, err := a.resolve(args)
		if err != nil {
			return err
		}
		for i, id := range ids {
			var m wire.Memory
			if err := a.call("GET", memoryPath(id), nil, &m); err != nil {
				return err
			}
			if a.json {
				continue
			}
			if i > 0 {
				a.Printf("\n")
			}
			a.showOne(m)
		}
		return nil
	})
}

func (a *action) showOne(m wire.Memory) {
	a.Indented("", terminal.Bold, terminal.Text(m.Content))
	pinned, metadata := "", ""
	ends := "ends"
	if !m.ExpiresAt.After(a.Now) {
		ends = "ended"
	}
	if m.Pinned {
		pinned = "yes"
	}
	if len(m.Metadata) > 0 {
		metadata = terminal.Line(string(m.Metadata))
	}
	a.Fields([][2]string{
		{"id", m.ID}, {"user", terminal.Line(m.UserID)}, {"agent", terminal.Line(m.AgentID)},
		{"conversation", terminal.Line(m.ConversationID)}, {"said by", terminal.Line(m.Speaker)},
		{"asked", terminal.Line(m.Asked)},
		{"turn", m.SourceTurnID}, {"type", string(m.Type)}, {"domain", string(m.Domain)},
		{"importance", fmt.Sprintf("%.2f", m.Importance)}, {"tags", terminal.Line(strings.Join(m.Tags, ", "))},
		{"metadata", metadata}, {"pinned", pinned}, {"status", string(m.Status)}, {"superseded by", m.SupersededBy},
		{"created", a.When(m.CreatedAt)}, {"updated", a.When(m.UpdatedAt)},
		{ends, a.When(m.ExpiresAt)},
		{"recalled", count(m.AccessCount, "time", "times") + ", last accessed " + a.When(m.LastAccessedAt)},
	})
}
