// Package memories has the commands that read and change the memories of a server:
//
//	arguments -> a request to a route of openapi.yaml -> a table for people, or the server's JSON (--json)
package memories

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/connection"
	"hippocampus/cmd/hippocampus/exit"
	"hippocampus/cmd/hippocampus/terminal"
	"hippocampus/internal/memory"
	"hippocampus/server/config"
)

// Commands returns the commands.
func Commands(sources connection.Sources) []*cobra.Command {
	p := program{sources}
	return []*cobra.Command{
		p.remember(), p.recall(), p.context(), p.list(), p.show(), p.history(), p.forget(), p.restore(), p.undo(),
		p.pin(true), p.pin(false), p.withdraw(), p.facts(), p.profile(), p.zone(), p.users(), p.stats(), p.tail(),
	}
}

// Routes is the annotation of a command with the routes that it requests, one on each line.
const Routes = "routes"

type program struct{ connection.Sources }

// action is one run of a command.
type action struct {
	*connection.Session
	terminal.Screen
	cmd  *cobra.Command
	json bool // print the server's answer
}

// options select the common flags that a command needs.
type options struct {
	user  bool // --user
	makes bool // the folder of --data is made if it is missing
}

// command adds the common flags to a command and its routes to the help. run is called when the command runs.
func (p program) command(cmd *cobra.Command, with options, run func(*action, []string) error) *cobra.Command {
	server := p.Add(cmd)
	server.Make = with.makes
	asJSON := cmd.Flags().Bool("json", false, "print what the server answers: one JSON document, or NDJSON of a list")
	if with.user {
		server.AddUser(cmd)
		complete(cmd, "user", p.completeUsers(server))
	}
	if cmd.Long == "" {
		cmd.Long = cmd.Short + "."
	}
	cmd.Long += "\n\nRoute: " + strings.ReplaceAll(cmd.Annotations[Routes], "\n", ", ")
	if strings.Contains(cmd.Use, "ID") {
		cmd.ValidArgsFunction = p.completeIDs(server)
	}
	if strings.Contains(cmd.Use, "TURN") {
		cmd.ValidArgsFunction = p.completeTurns(server)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		session, err := server.Open(cmd.Context(), cmd.InOrStdin())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, session.Close()) }()
		getenv := func(name string) string { return config.Lookup(p.Env, name) }
		screen := terminal.NewScreen(cmd.OutOrStdout(), getenv, p.Host.Now())
		return run(&action{Session: session, Screen: screen, cmd: cmd, json: *asJSON}, args)
	}
	return cmd
}

// call sends a request and decodes the answer. With --json it prints the answer unchanged.
func (a *action) call(method, path string, body, into any) error {
	raw, err := a.fetch(method, path, body, into)
	if err == nil && a.json {
		a.Printf("%s\n", raw)
	}
	return err
}

// fetch sends a request, decodes the answer and returns it.
func (a *action) fetch(method, path string, body, into any) (json.RawMessage, error) {
	raw, err := a.Call(a.cmd.Context(), method, path, body)
	if err == nil {
		err = a.decode(raw, into)
	}
	return raw, err
}

// silent returns the action for requests whose answers the command reads, and does not print as JSON.
func (a *action) silent() *action {
	silent := *a
	silent.json = false
	return &silent
}

func (a *action) decode(raw json.RawMessage, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s answers something else than this version expects: %w; compare the versions", a.Base, err)
	}
	return nil
}

// pageLimit is how many rows are asked for at once.
const pageLimit = 200

// pages calls each with the items under a key of all pages of a list, up to a limit; 0: all.
func (a *action) pages(path string, query url.Values, key string, limit int, each func(json.RawMessage) error) error {
	for left := limit; ; {
		size := pageLimit
		if limit > 0 {
			size = min(size, left)
		}
		query.Set("limit", fmt.Sprint(size))
		var page map[string]json.RawMessage
		if _, err := a.fetch("GET", path+"?"+query.Encode(), nil, &page); err != nil {
			return err
		}
		var items []json.RawMessage
		if err := a.decode(page[key], &items); err != nil {
			return err
		}
		for _, item := range items {
			if a.json {
				a.Printf("%s\n", item)
				continue
			}
			if err := each(item); err != nil {
				return err
			}
		}
		var cursor string
		_ = json.Unmarshal(page["next_cursor"], &cursor) // absent on the last page
		if left -= len(items); cursor == "" || limit > 0 && left <= 0 {
			return nil
		}
		query.Set("cursor", cursor)
	}
}

// note prints a line for people on standard error, where pipes do not see it.
func (a *action) note(format string, args ...any) {
	fmt.Fprintf(a.cmd.ErrOrStderr(), format+"\n", args...)
}

// changed copies the values of the flags that the command line sets into a request.
func (a *action) changed(body map[string]any, names map[string]string) {
	for flag, field := range names {
		given := a.cmd.Flags().Lookup(flag)
		if given == nil || !given.Changed {
			continue
		}
		switch given.Value.Type() {
		case "stringArray":
			body[field], _ = a.cmd.Flags().GetStringArray(flag)
		case "float64", "int", "bool":
			body[field] = json.RawMessage(given.Value.String())
		default:
			body[field] = given.Value.String()
		}
	}
}

// instant is the value of a flag with a time: RFC 3339, or a date, which begins at midnight on this machine.
type instant string

func (i *instant) String() string { return string(*i) }
func (i *instant) Type() string   { return "time" }

// Set implements pflag.Value.
func (i *instant) Set(text string) error {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		if t, err = time.ParseInLocation(time.DateOnly, text, time.Local); err != nil {
			return fmt.Errorf("give a date such as 2026-01-31, or a time such as 2026-01-31T08:00:00Z")
		}
	}
	*i = instant(t.Format(time.RFC3339Nano))
	return nil
}

func timeFlag(cmd *cobra.Command, name, usage string) { cmd.Flags().Var(new(instant), name, usage) }

// expiry is the value of a flag with the end of a shelf life: RFC 3339, or the last day, which ends in the user's zone.
type expiry string

func (e *expiry) String() string { return string(*e) }
func (e *expiry) Type() string   { return "end" }

// Set implements pflag.Value.
func (e *expiry) Set(text string) error {
	if _, err := time.Parse(time.RFC3339, text); err != nil && !memory.IsDay(text) {
		return errors.New("give the last day, such as 2026-01-31, or a time such as 2026-01-31T08:00:00Z")
	}
	*e = expiry(text)
	return nil
}

// jsonValue is the value of a flag with a JSON object.
type jsonValue string

func (j *jsonValue) String() string { return string(*j) }
func (j *jsonValue) Type() string   { return "json" }

// Set implements pflag.Value.
func (j *jsonValue) Set(text string) error {
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil || object == nil {
		return fmt.Errorf("give a JSON object such as '{\"source\": \"notes\"}'")
	}
	*j = jsonValue(text)
	return nil
}

// some returns cobra.MinimumNArgs(1) with another error text.
func some(missing string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return exit.Usagef("%s", missing)
		}
		return nil
	}
}

// changedJSON does what changed does, for a flag with a JSON object.
func (a *action) changedJSON(body map[string]any, name string) {
	if given := a.cmd.Flags().Lookup(name); given.Changed {
		body[name] = json.RawMessage(given.Value.String())
	}
}

// exactly returns cobra.ExactArgs with another error text.
func exactly(n int, wanted string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return exit.Usagef("%s", wanted)
		}
		return nil
	}
}
