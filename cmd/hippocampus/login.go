package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/connection"
	"hippocampus/cmd/hippocampus/exit"
	"hippocampus/cmd/hippocampus/remote"
	"hippocampus/cmd/hippocampus/terminal"
	"hippocampus/internal/memory"
	"hippocampus/server/config"
)

// defaultLogin is the name of a login for which no name is stated.
const defaultLogin = "default"

func loginCommand(o *overrides) *cobra.Command {
	var login connection.Login
	keyFile, list := "", false
	cmd := &cobra.Command{
		Use:   "login [NAME]",
		Short: "Store a server's URL and key for later commands",
		Long: `Store a server's URL and key for later commands, after the server has accepted the key.

What is not given is asked for. The key is never an argument, which other users of the machine could see; it comes from
--key-file, $` + config.KeyVariable + ` or a prompt. The latest login is the default; other commands choose one by
--login NAME. The file belongs to you alone (mode 0600): hippocampus/logins.json in $XDG_CONFIG_HOME, $HOME/.config or
%AppData%.`,
		Example: `  hippocampus login --url http://127.0.0.1:8080 --user ada
  hippocampus login work --url https://memory.example.com --key-file key.txt
  hippocampus login --list`,
		Args: cobra.MaximumNArgs(1),
	}
	flags := cmd.Flags()
	flags.StringVar(&login.URL, "url", "", "`URL` of the server")
	flags.StringVar(&keyFile, "key-file", "", "`file` with the API key, - for stdin")
	flags.StringVar(&login.User, "user", "", "`user` whose memories later commands mean by default")
	flags.BoolVar(&list, "list", false, "list the logins, without their keys")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		logins, err := connection.ReadLogins(o.env)
		if err != nil {
			return err
		}
		if list {
			printLogins(terminal.NewScreen(cmd.OutOrStdout(), o.getenv, o.host.Now()), logins)
			return nil
		}
		name := defaultLogin
		if len(args) == 1 {
			name = args[0]
		}
		if why := memory.CheckID(name, false); why != "" {
			return exit.Usagef("the name of a login %s", why)
		}
		if err := o.askLogin(cmd, &login, keyFile); err != nil {
			return err
		}
		if err := checkLogin(cmd.Context(), login); err != nil {
			return err
		}
		if err := logins.Add(name, login); err != nil {
			return fmt.Errorf("store the login: %w", err)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "logged in to %s as %q; stored in %s\n", login.URL, name, logins.Path())
		return nil
	}
	return cmd
}

// getenv returns a variable of the environment.
func (o *overrides) getenv(name string) string { return config.Lookup(o.env, name) }

// askLogin asks for the fields of a login that neither the command line nor the environment has.
func (o *overrides) askLogin(cmd *cobra.Command, login *connection.Login, keyFile string) (err error) {
	in, out := cmd.InOrStdin(), cmd.ErrOrStderr()
	login.URL = cmp.Or(login.URL, o.getenv(config.URLVariable))
	if login.URL == "" && terminal.IsTerminal(in) {
		const usual = "http://127.0.0.1:8080"
		if login.URL, err = terminal.Ask(in, out, "URL of the server ["+usual+"]: "); err != nil {
			return err
		}
		login.URL = cmp.Or(login.URL, usual)
	}
	if login.URL == "" {
		return exit.Usagef("no server is named: give --url")
	}
	server, err := remote.New(login.URL)
	if err != nil {
		return err
	}
	login.URL = server.Base
	switch {
	case keyFile != "":
		login.Key, err = connection.ReadKey(keyFile, in)
	case o.getenv(config.KeyVariable) != "":
		login.Key = o.getenv(config.KeyVariable)
	default:
		login.Key, err = terminal.AskSecret(in, out, "API key (not shown; empty for a server without keys): ")
	}
	return err
}

// checkLogin asks the server whether it accepts the key.
func checkLogin(ctx context.Context, login connection.Login) error {
	server := remote.Server{Base: login.URL, Key: login.Key, KeySource: "this login"}
	if login.User != "" { // a key of one user may ask for that user alone
		query := url.Values{"user_id": {login.User}, "limit": {"1"}}
		_, err := server.Call(ctx, http.MethodGet, "/v1/memories?"+query.Encode(), nil)
		return err
	}
	_, err := server.Call(ctx, http.MethodGet, "/v1/stats", nil)
	var refusal *remote.Refusal
	if errors.As(err, &refusal) && refusal.Status == http.StatusForbidden {
		return fmt.Errorf("%w; if it is the key of one user, name the user with --user", err)
	}
	return err
}

func printLogins(screen terminal.Screen, logins *connection.Logins) {
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(logins.Servers)) {
		mark := ""
		if name == logins.Default {
			mark = "default"
		}
		login := logins.Servers[name]
		rows = append(rows, []string{terminal.Line(name), terminal.Line(login.URL), terminal.Line(login.User), mark})
	}
	screen.Table([]terminal.Column{{Title: "LOGIN"}, {Title: "URL"}, {Title: "USER"}, {Title: ""}}, rows)
}

func logoutCommand(o *overrides) *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use:   "logout [NAME]",
		Short: "Forget a login; the key stays valid on the server",
		Long: "Forget a login, the default one if none is named. The key stays valid on the server, until\n" +
			"`hippocampus key revoke` revokes it.",
		Example: "  hippocampus logout work\n  hippocampus logout",
		Args:    cobra.MaximumNArgs(1),
	}
	cmd.Flags().BoolVar(&all, "all", false, "forget all logins")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		logins, err := connection.ReadLogins(o.env)
		if err != nil {
			return err
		}
		names := slices.Sorted(maps.Keys(logins.Servers))
		if !all {
			name := logins.Default
			if len(args) == 1 {
				name = args[0]
			}
			if _, err := logins.Find(name); err != nil {
				return err
			}
			names = []string{name}
		}
		for _, name := range names {
			if err := logins.Remove(name); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "logged out of %q\n", name)
		}
		return nil
	}
	return cmd
}
