package main

import (
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/connection"
	"hippocampus/server/app"
	"hippocampus/server/config"
)

// gcPercent is lower than Go's default of 100, since most of the heap is caches
// and would double before a collection.
const gcPercent = 75

func serveCommand(o *overrides, host app.Host) *cobra.Command {
	return o.command("serve", "Run the server until SIGTERM or Ctrl-C",
		[]string{"serve", "serve --listen 127.0.0.1:9090 --data memories --set recall.limit=20"},
		func(cmd *cobra.Command, cfg config.Config) error {
			if os.Getenv("GOGC") == "" {
				debug.SetGCPercent(gcPercent)
			}
			return app.Run(cmd.Context(), cfg, host)
		})
}

// healthcheckCommand checks the server of the same configuration. The container
// image has no other HTTP client.
func healthcheckCommand(o *overrides) *cobra.Command {
	return o.command("healthcheck", "Check that the server is running", []string{"healthcheck"},
		func(cmd *cobra.Command, cfg config.Config) error {
			url := "http://" + connection.Dialable(cfg.Listen) + "/healthz"
			request, err := http.NewRequestWithContext(cmd.Context(), http.MethodGet, url, http.NoBody)
			if err != nil {
				return err
			}
			client := http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
			answer, err := client.Do(request)
			if err != nil {
				return err
			}
			defer answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				return fmt.Errorf("%s answers %s", url, answer.Status)
			}
			return nil
		})
}
