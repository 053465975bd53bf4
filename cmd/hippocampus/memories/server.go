package memories

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/terminal"
)

func (p program) users() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "users",
		Short:       "List the users that have memories",
		Example:     "  hippocampus users",
		Annotations: map[string]string{Routes: "GET /v1/users"},
		Args:        cobra.NoArgs,
	}
	return p.command(cmd, options{}, func(a *action, _ []string) error {
		var rows [][]string
		err := a.pages("/v1/users", url.Values{}, "users", 0, func(raw json.RawMessage) error {
			var u struct {
				UserID   string `json:"user_id"`
				Memories int
				FirstAt  time.Time `json:"first_at"`
				LastAt   time.Time `json:"last_at"`
			}
			err := a.decode(raw, &u)
			rows = append(rows, []string{
				terminal.Line(u.UserID), fmt.Sprint(u.Memories), age(a.Screen, u.FirstAt), age(a.Screen, u.LastAt),
			})
			return err
		})
		switch {
		case err != nil || a.json:
			return err
		case len(rows) == 0:
			a.note("There is no user with memories yet.")
			return nil
		}
		a.Table([]terminal.Column{
			{Title: "USER", Style: terminal.Cyan, Grows: true}, {Title: "MEMORIES", Right: true},
			{Title: "FIRST", Style: terminal.Faint}, {Title: "LAST", Style: terminal.Faint},
		}, rows)
		return nil
	})
}

type retention struct {
	Tiers map[string]struct {
		Memories  int
		Retention float64
	}
	Exempt int
}

func (r retention) String() string {
	var parts []string
	for _, tier := range []string{"high", "medium", "low"} {
		parts = append(parts, fmt.Sprintf("%s %d", tier, r.Tiers[tier].Memories))
	}
	return strings.Join(append(parts, fmt.Sprintf("exempt %d", r.Exempt)), ", ")
}

// shelfLives counts active memories that have an end.
type shelfLives struct{ Limited, Ended int }

func (l shelfLives) String() string {
	return fmt.Sprintf("%d with an end, %d ended", l.Limited, l.Ended)
}

// tokens counts what models have used for the app today.
type tokens struct {
	Day             string
	Chat, Embedding int
	ChatQuota       int `json:"chat_quota"`
}

func (t tokens) String() string {
	chat := fmt.Sprint(t.Chat)
	if t.ChatQuota > 0 {
		chat += fmt.Sprintf(" of %d", t.ChatQuota)
	}
	return fmt.Sprintf("chat %s, embedding %d on %s in UTC", chat, t.Embedding, t.Day)
}

func (p program) stats() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "stats",
		Short:       "Count what the server holds",
		Long:        "Count what the app of the key has. With --user, count retention and ends of that user's memories also.",
		Example:     "  hippocampus stats\n  hippocampus stats --user ada",
		Annotations: map[string]string{Routes: "GET /v1/stats"},
		Args:        cobra.NoArgs,
	}
	return p.command(cmd, options{user: true}, func(a *action, _ []string) error {
		path := "/v1/stats"
		if a.cmd.Flags().Changed("user") {
			path += "?" + url.Values{"user_id": {a.User}}.Encode()
		}
		var s struct {
			AppID      string `json:"app_id"`
			Users      int
			Memories   map[string]int
			Domains    map[string]int
			Types      map[string]int
			Turns      map[string]int
			Verdicts   map[string]int `json:"candidates"`
			Vectors    map[string]int
			ShelfLives shelfLives `json:"shelf_lives"`
			Retention  retention
			User       *struct {
				UserID     string     `json:"user_id"`
				ShelfLives shelfLives `json:"shelf_lives"`
				Retention  retention
			}
			Tokens    tokens
			Embedding *struct {
				Serving, Target string
				Remaining       int
			}
		}
		if err := a.call("GET", path, nil, &s); err != nil || a.json {
			return err
		}
		fields := [][2]string{
			{"app", terminal.Line(s.AppID)}, {"users", fmt.Sprint(s.Users)}, {"memories", counts(s.Memories)},
			{"types", counts(s.Types)}, {"domains", counts(s.Domains)}, {"turns", counts(s.Turns)},
			{"verdicts", counts(s.Verdicts)}, {"vectors", counts(s.Vectors)}, {"shelf lives", s.ShelfLives.String()},
			{"retention", s.Retention.String()},
		}
		if s.User != nil {
			fields = append(fields, [2]string{
				"of " + terminal.Line(s.User.UserID), s.User.Retention.String() + "; " + s.User.ShelfLives.String(),
			})
		}
		if t := s.Tokens; t.Chat+t.Embedding+t.ChatQuota > 0 {
			fields = append(fields, [2]string{"tokens", t.String()})
		}
		if e := s.Embedding; e != nil {
			text := terminal.Line(e.Serving)
			if e.Remaining > 0 {
				text += fmt.Sprintf(", then %s, which %d memories wait for", terminal.Line(e.Target), e.Remaining)
			}
			fields = append(fields, [2]string{"embedded by", text})
		}
		a.Fields(fields)
		return nil
	})
}

// counts prints how many there are of each kind, the most first.
func counts(of map[string]int) string {
	kinds := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		if of[a] != of[b] {
			return of[b] - of[a]
		}
		return strings.Compare(a, b)
	})
	parts := make([]string, len(kinds))
	for i, kind := range kinds {
		parts[i] = fmt.Sprintf("%s %d", kind, of[kind])
	}
	return orElse(strings.Join(parts, ", "), "-")
}
