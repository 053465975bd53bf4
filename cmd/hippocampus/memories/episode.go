package memories

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/connection"
	"hippocampus/cmd/hippocampus/remote"
	"hippocampus/cmd/hippocampus/terminal"
	"hippocampus/internal/wire"
)

// EpisodeCommands returns the commands that concern episodes.
func EpisodeCommands(sources connection.Sources) []*cobra.Command {
	p := program{sources}
	return []*cobra.Command{p.listEpisodes(), p.showEpisode()}
}

// episode is an episode as the server answers it.
type episode struct {
	ID, Title string
	From, To  time.Time
	Count     int
	Theme     struct{ Title string }
	Condensed struct{ Cores, Patterns int }
	Memories  []wire.Memory
}

// condensedTo is empty if no memory of the episode was condensed.
func (e episode) condensedTo() string {
	var parts []string
	if n := e.Condensed.Patterns; n > 0 {
		parts = append(parts, count(n, "pattern", "patterns"))
	}
	if n := e.Condensed.Cores; n > 0 {
		parts = append(parts, count(n, "core statement", "core statements"))
	}
	return strings.Join(parts, ", ")
}

// episodes reads the episodes of the user that a query chooses, at most as many as limit says; 0: all.
func (a *action) episodes(query url.Values, limit int) (path string, list []episode, err error) {
	user, err := a.NeedUser()
	if err != nil {
		return "", nil, err
	}
	path = "/v1/users/" + url.PathEscape(user) + "/episodes"
	err = a.pages(path, query, "episodes", limit, func(raw json.RawMessage) error {
		var e episode
		err := a.decode(raw, &e)
		list = append(list, e)
		return err
	})
	return path, list, err
}

func (p program) listEpisodes() *cobra.Command {
	limit := 0
	cmd := &cobra.Command{
		Use:         "list",
		Short:       "List the episodes of a user, the one that ended last first",
		Example:     "  hippocampus episode list --user ada\n  hippocampus episode list --user ada --since 2026-01-31",
		Annotations: map[string]string{Routes: "GET /v1/users/{user_id}/episodes"},
		Args:        cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.IntVar(&limit, "limit", 20, "the most episodes; 0: all")
	timeFlag(cmd, "since", "only episodes that ended at this `time` or later")
	timeFlag(cmd, "until", "only episodes that began before this `time`")
	return p.command(cmd, options{user: true}, func(a *action, _ []string) error {
		query := url.Values{}
		for _, name := range []string{"since", "until"} {
			if value := flags.Lookup(name).Value.String(); value != "" {
				query.Set(name, value)
			}
		}
		_, list, err := a.episodes(query, limit)
		switch {
		case err != nil || a.json:
			return err
		case len(list) == 0:
			a.note("%s has no such episode. Episodes are made every night.", a.User)
			return nil
		}
		id, rows := shownID(a.Screen), make([][]string, len(list))
		for i, e := range list {
			rows[i] = []string{
				id(e.ID), terminal.Date(e.From), terminal.Date(e.To), fmt.Sprint(e.Count), terminal.Line(e.Title),
			}
		}
		a.Table([]terminal.Column{
			{Title: "ID", Style: terminal.Cyan}, {Title: "FROM", Style: terminal.Faint},
			{Title: "TO", Style: terminal.Faint}, {Title: "MEMORIES", Right: true}, {Title: "TITLE", Grows: true},
		}, rows)
		return nil
	})
}

// findEpisode returns the path of the latest episode that the end of an id, or a part of a title names.
func (a *action) findEpisode(name string) (string, error) {
	path, list, err := a.silent().episodes(url.Values{}, 0)
	if err != nil {
		return "", err
	}
	part := strings.ToLower(name)
	for _, e := range list {
		if strings.HasSuffix(e.ID, part) || strings.Contains(strings.ToLower(e.Title), part) {
			return path + "/" + e.ID, nil
		}
	}
	return "", &remote.NotFound{Text: fmt.Sprintf("%s has no episode %q: see `hippocampus episode list`", a.User, name)}
}

func (p program) showEpisode() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show EPISODE",
		Short: "Show an episode with its memories, the oldest first",
		Long: `Show an episode with its memories, the oldest first. The end of its id names it, or a part of its title; if
several have that, the one that ended last is shown. Summaries are what older memories were condensed to; "hippocampus
undo" takes one back.`,
		Example: "  hippocampus episode show Kyoto --user ada",
		Annotations: map[string]string{
			Routes: "GET /v1/users/{user_id}/episodes\nGET /v1/users/{user_id}/episodes/{episode_id}",
		},
		Args: exactly(1, "no episode is named: give the end of its id, or a part of its title"),
	}
	return p.command(cmd, options{user: true}, func(a *action, args []string) error {
		path, err := a.findEpisode(args[0])
		if err != nil {
			return err
		}
		var e episode
		if err := a.call("GET", path, nil, &e); err != nil || a.json {
			return err
		}
		a.Indented("", terminal.Bold, terminal.Line(e.Title))
		a.Fields([][2]string{
			{"id", e.ID}, {"theme", terminal.Line(e.Theme.Title)}, {"from", a.When(e.From)}, {"to", a.When(e.To)},
			{"condensed to", e.condensedTo()},
		})
		PrintTable(a.Screen, e.Memories, false)
		return nil
	})
}
