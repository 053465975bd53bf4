package main

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/spf13/cobra"
)

// healthcheckCommand checks the server of the same configuration. The container
// image has no other HTTP client.
func healthcheckCommand(o *overrides) *cobra.Command {
	return &cobra.Command{
		Use:   "healthcheck",
		Short: "Check that the server is running",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := o.load()
			if err != nil {
				return err
			}
			url := "http://" + dialable(cfg.Listen) + "/healthz"
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
		},
	}
}

// dialable returns the address at which a server that listens on listen can be reached from this machine.
func dialable(listen string) string {
	host, port, _ := net.SplitHostPort(listen) // config has checked it
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}
