package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/remote"
	"hippocampus/server/app"
	"hippocampus/server/config"
)

func mcpCommand(o *overrides, host app.Host) *cobra.Command {
	var base, key, user string
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve MCP over standard input and output, for assistants on this machine",
		Long: `Serve MCP over standard input and output, for assistants on this machine.

Without --url it serves the memory in the folder of --data. With --url it relays every message to the server there.`,
		Example: "  hippocampus mcp --data memories --user ada\n  hippocampus mcp --url http://127.0.0.1:8080 --user ada",
	}
	cmd.Flags().StringVar(&base, "url", "", "`URL` of the server whose memory it is (default: the folder of --data)")
	cmd.Flags().StringVar(&key, "key", "", "API `key` of the server (default $"+config.KeyVariable+")")
	cmd.Flags().StringVar(&user, "user", "", "`user` whose memory it is (default: the assistant names one in each call)")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if key != "" && base == "" {
			return errors.New("--key is that of a server: give its --url")
		}
		return cobra.NoArgs(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		in := io.NopCloser(cmd.InOrStdin())
		if base == "" {
			cfg, err := o.load()
			if err != nil {
				return err
			}
			return app.ServeMCP(cmd.Context(), cfg, host, in, user)
		}
		server, err := remote.New(base)
		if err != nil {
			return err
		}
		server.Key, server.KeySource = config.Lookup(o.env, config.KeyVariable), config.KeyVariable
		if key != "" {
			server.Key, server.KeySource = key, "--key"
		}
		return newBridge(server, user, cmd.ErrOrStderr()).Run(cmd.Context(), in, cmd.OutOrStdout())
	}
	return cmd
}
