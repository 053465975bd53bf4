package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hippocampus/cmd/hippocampus/connection"
	"hippocampus/cmd/hippocampus/demo"
	"hippocampus/cmd/hippocampus/exit"
	"hippocampus/cmd/hippocampus/memories"
	"hippocampus/internal/nearest"
	"hippocampus/server/app"
	"hippocampus/server/config"
)

// execute runs a command line with an environment of NAME=VALUE lines and
// returns its exit code.
func execute(ctx context.Context, args, env []string, host app.Host) int {
	root := newRoot(env, host)
	usageOK := false // usage is checked before PersistentPreRun
	root.PersistentPreRun = func(*cobra.Command, []string) { usageOK = true }
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exit.Done
	}
	if errors.Is(err, errConflicts) {
		return exit.Usage // the command has printed them
	}
	code := exit.Code(err)
	if !usageOK {
		code = exit.Usage
	}
	text := strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
	if code == exit.Usage {
		text += ": see " + cmd.CommandPath() + " --help"
	}
	fmt.Fprintf(host.Err, "hippocampus: %s\n", text)
	return code
}

// The groups of commands in the help.
const (
	serverGroup   = "server"
	memoriesGroup = "memories"
	exchangeGroup = "exchange"
	toolsGroup    = "tools"
)

func newRoot(env []string, host app.Host) *cobra.Command {
	root := &cobra.Command{
		Use:   "hippocampus",
		Short: "Long-term memory for chat backends",
		Long: `Long-term memory for chat backends. "hippocampus demo" shows in a minute what it does.

The commands of memories work on a running server (--url, "hippocampus login"), or on the folder of --data if no server
uses it.`,
		Example: `  hippocampus demo
  hippocampus serve
  hippocampus login --url http://127.0.0.1:8080 --user ada
  hippocampus recall "Where does Ada live?" --user ada`,
		Args:          noSubcommand,
		RunE:          help,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.Version = buildOf(version, debug.ReadBuildInfo).Version
	root.SetVersionTemplate("hippocampus {{.Version}}: `hippocampus version` shows how it was built\n")
	root.SetOut(host.Out)
	root.SetErr(host.Err)
	root.SetFlagErrorFunc(flagError)
	o := newOverrides(root, env)
	o.host = host
	group := func(id, title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: id, Title: title})
		for _, cmd := range commands {
			cmd.GroupID = id
		}
		root.AddCommand(commands...)
	}
	group(memoriesGroup, "Memories:", append(memories.Commands(o.sources()), memoryParents(o.sources())...)...)
	group(serverGroup, "Server:",
		serveCommand(o, host), migrateCommand(o, host), keyCommand(o, host), verifyCommand(o, host),
		rebuildCommand(o, host), backupCommand(o, host), partitionCommand(o, host), healthcheckCommand(o))
	group(exchangeGroup, "Exchange:", exportCommand(o), importCommand(o), fileCommand(o))
	group(toolsGroup, "Tools:",
		demo.Command(o.sources()), loginCommand(o), logoutCommand(o), mcpCommand(o, host), promptsCommand(o, host),
		docsCommand(), versionCommand(host))
	root.SetHelpCommandGroupID(toolsGroup)
	suggestInHelp(root)
	root.SetCompletionCommandGroupID(toolsGroup)
	root.AddCommand(exitCodesTopic())
	return root
}

// memoryParents returns the commands that have subcommands about memories.
func memoryParents(sources connection.Sources) []*cobra.Command {
	parent := func(use, short, example string, subcommands []*cobra.Command) *cobra.Command {
		cmd := &cobra.Command{Use: use, Short: short, Example: example, Args: noSubcommand, RunE: help}
		cmd.AddCommand(subcommands...)
		return cmd
	}
	return []*cobra.Command{
		parent("user", "Turn memory off for a user, or merge, rename or clone users",
			"  hippocampus user memory off --user bea\n  hippocampus user merge --user visitor-7 --into bea --yes",
			memories.UserCommands(sources)),
		parent("document", "Add, list, show and delete documents, whose passages are memories",
			"  hippocampus document add handbook.md --user ada\n  hippocampus document list --user ada",
			memories.DocumentCommands(sources)),
		parent("episode", "List and show episodes: memories that belong together by time and meaning",
			"  hippocampus episode list --user ada\n  hippocampus episode show Kyoto --user ada",
			memories.EpisodeCommands(sources)),
		parent("policy", "Say what the app remembers, and what it never does",
			"  hippocampus policy show\n  hippocampus policy set policy.yaml",
			memories.PolicyCommands(sources)),
		parent("turns", "Score turns again, and undo that",
			"  hippocampus turns reprocess --user ada --scorer rules --dry-run\n  hippocampus turns runs",
			memories.TurnCommands(sources)),
	}
}

// exitCodesTopic returns the topic that `hippocampus help exit-codes` prints.
func exitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use: "exit-codes", Short: "What the exit codes mean",
		Long: "Every command exits with one of these codes. An error is one line on standard error.\n\n" + exit.Table(),
	}
}

// help runs a command that only has subcommands.
func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// suggestInHelp makes `hippocampus help recal` fail like `hippocampus recal`, with the nearest commands.
func suggestInHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "help" {
			continue
		}
		cmd.Example = "  hippocampus help recall"
		show := cmd.Run
		cmd.Run, cmd.RunE = nil, func(cmd *cobra.Command, args []string) error {
			found, rest, err := root.Find(args)
			if err == nil && found.HasSubCommands() {
				err = noSubcommand(found, rest)
			}
			if err != nil {
				return err
			}
			show(cmd, args)
			return nil
		}
	}
}

// noSubcommand is the Args of a command that only has subcommands: an argument is a subcommand that does not exist.
func noSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = ": did you mean " + strings.Join(near, " or ") + "?"
	}
	return exit.Usagef("unknown command %q for %q%s", args[0], cmd.CommandPath(), hint)
}

// flagError adds the nearest flag to the error of an unknown flag, and rewords the error of an invalid number.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var number *strconv.NumError
	if errors.As(err, &invalid) && errors.As(err, &number) {
		return exit.Usagef("--%s is %q: give a number", invalid.GetFlag().Name, invalid.GetValue())
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || len(unknown.GetSpecifiedName()) < 2 {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	near := nearest.Name(unknown.GetSpecifiedName(), names)
	if near == "" {
		return err
	}
	return exit.Usagef("%w: did you mean --%s?", err, near)
}

// overrides are the settings on the command line.
type overrides struct {
	env      []string
	host     app.Host
	file     string
	settings map[string]string
}

// newOverrides adds the flags that all commands have.
func newOverrides(root *cobra.Command, env []string) *overrides {
	o := &overrides{env: env, settings: map[string]string{}}
	flags := root.PersistentFlags()
	flags.StringVar(&o.file, "config", "", "YAML `file` of settings (default $"+config.FileVariable+")")
	set := func(key string) func(string) error {
		return func(value string) error { o.settings[key] = value; return nil }
	}
	defaults := config.Default()
	flags.Func("listen", "`host:port` to serve on (default "+defaults.Listen+")", set("listen"))
	flags.Func("data", "`folder` of the SQLite database (default "+defaults.Data+")", set("data"))
	flags.BoolFunc("dev", "turn authentication off; on loopback only", set("dev"))
	flags.Func("set", "any setting, as `key=value`, such as recall.limit=20; repeatable", func(text string) error {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return fmt.Errorf("%q is not key=value", text)
		}
		o.settings[key] = value
		return nil
	})
	return o
}

// command returns a command that takes no arguments and calls f with the configuration. Its examples are without the
// name of the program.
func (o *overrides) command(
	use, short string, examples []string, f func(*cobra.Command, config.Config) error,
) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs, Example: "  hippocampus " + strings.Join(examples, "\n  hippocampus "),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := o.load()
			if err != nil {
				return err
			}
			return f(cmd, cfg)
		},
	}
}

// load reads the configuration from all sources.
func (o *overrides) load() (config.Config, error) { return o.loadWith(nil) }

// loadWith is load with changes that override all sources.
func (o *overrides) loadWith(changes map[string]string) (config.Config, error) {
	settings := maps.Clone(o.settings)
	maps.Copy(settings, changes)
	return config.Load(config.Sources{File: o.file, Env: o.env, Flags: settings})
}

// sources returns the sources from which a connection is made.
func (o *overrides) sources() connection.Sources {
	return connection.Sources{
		Env: o.env, Host: o.host, Load: o.loadWith,
		Given: func(setting string) bool {
			_, given := o.settings[setting]
			return given || setting == "config" && o.file != ""
		},
	}
}

// connectionFlags adds the flags that name the server of a command.
func (o *overrides) connectionFlags(cmd *cobra.Command) *connection.Flags {
	return o.sources().Add(cmd)
}
