package main

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"

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
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	text := strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
	if usageOK {
		fmt.Fprintf(host.Err, "hippocampus: %s\n", text)
		return 1
	}
	fmt.Fprintf(host.Err, "hippocampus: %s: see hippocampus --help\n", text)
	return 2
}

func newRoot(env []string, host app.Host) *cobra.Command {
	root := &cobra.Command{
		Use:           "hippocampus",
		Short:         "Long-term memory for chat backends",
		Args:          cobra.NoArgs,
		RunE:          help,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(host.Out)
	root.SetErr(host.Err)
	root.CompletionOptions.HiddenDefaultCmd = true
	o := newOverrides(root, env)
	root.AddCommand(
		serveCommand(o, host),
		migrateCommand(o, host),
		keyCommand(o, host),
		verifyCommand(o, host),
		rebuildCommand(o, host),
		exportCommand(o),
		importCommand(o),
		promptsCommand(o, host),
		healthcheckCommand(o),
		versionCommand(),
	)
	return root
}

// help runs a command that only has subcommands.
func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// overrides are the settings on the command line.
type overrides struct {
	env      []string
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

// command returns a command that takes no arguments and calls f with the configuration.
func (o *overrides) command(use, short string, f func(*cobra.Command, config.Config) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
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
func (o *overrides) load() (config.Config, error) {
	return config.Load(config.Sources{File: o.file, Env: o.env, Flags: maps.Clone(o.settings)})
}
