package memories

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/connection"
	"hippocampus/cmd/hippocampus/exit"
	"hippocampus/cmd/hippocampus/terminal"
	"hippocampus/internal/memory"
)

// UserCommands returns the commands that concern a user as a whole.
func UserCommands(sources connection.Sources) []*cobra.Command {
	p := program{sources}
	return []*cobra.Command{p.userMemory(), p.merge(), p.rename(), p.clone()}
}

func modeNames() (names []string) {
	for _, mode := range memory.Modes {
		names = append(names, mode.String())
	}
	return names
}

func (p program) userMemory() *cobra.Command {
	var conversation string
	cmd := &cobra.Command{
		Use:   "memory [on|read|off]",
		Short: "Show or set how much of memory is on for a user or a conversation",
		Long: `Show or set how much of memory is on for a user, or for one conversation of the user.

With "read" memories are recalled and nothing new is kept, and with "off" neither. What was remembered before stays.`,
		Example: `  hippocampus user memory --user bea
  hippocampus user memory off --user bea
  hippocampus user memory read --user bea --conversation chat-9`,
		Annotations: map[string]string{
			Routes: "GET /v1/users/{user_id}\nPUT /v1/users/{user_id}\nPUT /v1/conversations/{id}",
		},
		ValidArgsFunction: fixed(modeNames()...),
	}
	cmd.Flags().StringVar(&conversation, "conversation", "", "set it for this `conversation` alone")
	cmd.Args = func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) > 1 || len(args) == 1 && !slices.Contains(modeNames(), args[0]):
			return exit.Usagef("give one of %s", strings.Join(modeNames(), ", "))
		case len(args) == 0 && conversation != "":
			return exit.Usagef("give one of %s: --conversation goes with what to set", strings.Join(modeNames(), ", "))
		}
		return nil
	}
	return p.command(cmd, options{user: true, makes: true}, func(a *action, args []string) error {
		user, err := a.NeedUser()
		if err != nil {
			return err
		}
		path := "/v1/users/" + url.PathEscape(user)
		if conversation != "" {
			path = "/v1/conversations/" + url.PathEscape(conversation) + "?user_id=" + url.QueryEscape(user)
		}
		method, body := "GET", any(nil)
		if len(args) == 1 {
			method, body = "PUT", map[string]string{"memory": args[0]}
		}
		var set struct{ Memory string }
		if err := a.call(method, path, body, &set); err != nil || a.json {
			return err
		}
		a.Printf("memory is %s\n", a.Paint(terminal.Bold, terminal.Line(set.Memory)))
		return nil
	})
}

func (p program) merge() *cobra.Command {
	var into string
	var yes bool
	cmd := &cobra.Command{
		Use:   "merge",
		Short: "Move everything of a user to another one",
		Long: `Move everything of a user to another one, such as what a visitor said before logging in. Nothing separates the
two afterwards. Interrupted, the same command continues.`,
		Example:     `  hippocampus user merge --user visitor-7 --into bea --yes`,
		Annotations: map[string]string{Routes: "POST /v1/users/{user_id}/merge"},
		Args:        cobra.NoArgs,
	}
	cmd.Flags().StringVar(&into, "into", "", "the `user` who receives everything")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return p.command(cmd, options{user: true}, func(a *action, _ []string) error {
		return a.move("merge", "into", into, func(user string) (bool, error) {
			return a.agree(fmt.Sprintf("Move everything of %s to %s, for good?", terminal.Line(user), terminal.Line(into)),
				yes, false)
		})
	})
}

func (p program) rename() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:         "rename",
		Short:       "Give a user a new id",
		Long:        `Give a user a new id, which no other user has. Keys that are bound to the old id stay bound to it.`,
		Example:     `  hippocampus user rename --user visitor-8 --to cleo`,
		Annotations: map[string]string{Routes: "POST /v1/users/{user_id}/rename"},
		Args:        cobra.NoArgs,
	}
	cmd.Flags().StringVar(&to, "to", "", "the new `id`")
	return p.command(cmd, options{user: true}, func(a *action, _ []string) error {
		return a.move("rename", "to", to, func(string) (bool, error) { return true, nil })
	})
}

func (p program) clone() *cobra.Command {
	var into string
	cmd := &cobra.Command{
		Use:   "clone",
		Short: "Copy what a user has to another one",
		Long: `Copy what a user has to another one, who may be new. Afterwards neither depends on the other. The same command
again copies what is new, and nothing twice; interrupted, it continues.`,
		Example:     `  hippocampus user clone --user bea --into bea-test`,
		Annotations: map[string]string{Routes: "POST /v1/users/{user_id}/clone"},
		Args:        cobra.NoArgs,
	}
	cmd.Flags().StringVar(&into, "into", "", "the `user` who receives the copies")
	return p.command(cmd, options{user: true}, func(a *action, _ []string) error {
		user, err := a.NeedUser()
		if err != nil {
			return err
		}
		if into == "" {
			return exit.Usagef("--into is missing: name the other user")
		}
		var done struct {
			Copied map[string]int
			Failed int
			Errors []string
		}
		path := "/v1/users/" + url.PathEscape(user) + "/clone"
		if err := a.call("POST", path, map[string]string{"into": into}, &done); err != nil || a.json {
			return err
		}
		n := done.Copied
		a.Printf("%s has copies now: %s, %s, %s and %s were copied\n", a.Paint(terminal.Bold, terminal.Line(into)),
			count(n["memories"], "memory", "memories"), count(n["turns"], "turn", "turns"),
			count(n["conversations"], "conversation", "conversations"), count(n["facts"], "fact", "facts"))
		for _, reason := range done.Errors {
			a.Printf("not copied: %s\n", terminal.Line(reason))
		}
		if more := done.Failed - len(done.Errors); more > 0 {
			a.Printf("not copied: %d more\n", more)
		}
		return nil
	})
}

// move asks a route of a user, with the other user in a field, which is also the name of a flag.
func (a *action) move(route, field, other string, agreed func(user string) (bool, error)) error {
	user, err := a.NeedUser()
	if err != nil {
		return err
	}
	if other == "" {
		return exit.Usagef("--%s is missing: name the other user", field)
	}
	if ok, err := agreed(user); err != nil || !ok {
		return err
	}
	var done struct {
		Moved struct{ Memories, Turns, Conversations, Facts int }
	}
	path := "/v1/users/" + url.PathEscape(user) + "/" + route
	if err := a.call("POST", path, map[string]string{field: other}, &done); err != nil || a.json {
		return err
	}
	m := done.Moved
	a.Printf("%s is %s now: %s, %s, %s and %s were moved\n", terminal.Line(user),
		a.Paint(terminal.Bold, terminal.Line(other)), count(m.Memories, "memory", "memories"),
		count(m.Turns, "turn", "turns"), count(m.Conversations, "conversation", "conversations"),
		count(m.Facts, "fact", "facts"))
	return nil
}
