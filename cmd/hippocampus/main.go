// Command hippocampus is the memory server and its tools:
//
//	file, environment, flags -> config.Config -> app
//
// Exit codes: 0 done, 1 failed, 2 wrong usage. An error is one line on stderr.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"hippocampus/server/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := execute(ctx, os.Args[1:], os.Environ(), app.Host{Out: os.Stdout, Err: os.Stderr, Now: clock})
	stop()
	os.Exit(code)
}

// version is set when a release is built: -ldflags "-X main.version=v1.2.3".
var version string

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) {
			fmt.Fprintln(cmd.OutOrStdout(), describe())
		},
	}
}

// describe returns the version, with the revision if the build recorded it.
func describe() string {
	name := version
	var toolchain, revision string
	if info, ok := debug.ReadBuildInfo(); ok {
		if name == "" {
			name = info.Main.Version
		}
		toolchain = info.GoVersion
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = ", revision " + s.Value
			}
		}
	}
	return fmt.Sprintf("hippocampus %s (%s%s)", name, toolchain, revision)
}
