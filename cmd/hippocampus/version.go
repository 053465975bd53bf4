package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"hippocampus/server/app"
)

// version is set when a release is built: -ldflags "-X main.version=v1.2.3".
var version string

// build describes the program. The revision control fields are empty if the build did not record them, as in `go run`.
type build struct {
	Version  string   `json:"version"`          // such as v1.2.3; "(devel)" if it is not a release
	Commit   string   `json:"commit,omitempty"` // whole hash
	Date     string   `json:"date,omitempty"`   // of the commit, RFC 3339
	Modified bool     `json:"modified"`         // whether files differed from the commit
	Go       string   `json:"go"`               // version of the toolchain
	Platform string   `json:"platform"`         // operating system and architecture, such as linux/amd64
	Tags     []string `json:"tags"`             // build tags
	Cgo      bool     `json:"cgo"`              // whether the program is linked against C libraries
}

func versionCommand(host app.Host) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version, and how the program was built",
		Example: "  hippocampus version\n  hippocampus version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := buildOf(version, debug.ReadBuildInfo)
			if asJSON {
				return json.NewEncoder(host.Out).Encode(b)
			}
			return b.write(host.Out)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// buildOf returns the description that the build recorded. A released version overrides that of the main module.
func buildOf(released string, read func() (*debug.BuildInfo, bool)) build {
	b := build{Version: released, Platform: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Tags: []string{}}
	info, ok := read()
	if !ok {
		return b
	}
	b.Version = cmp.Or(b.Version, info.Main.Version)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		case "-tags":
			b.Tags = strings.Split(s.Value, ",")
		case "CGO_ENABLED":
			b.Cgo = s.Value == "1"
		}
	}
	return b
}

// write prints one line for each known field.
func (b build) write(out io.Writer) error {
	lines := [][2]string{
		{"commit", b.Commit},
		{"date", b.Date},
		{"go", b.Go},
		{"platform", b.Platform},
		{"tags", strings.Join(b.Tags, ",")},
	}
	if b.Modified {
		lines[0][1] += " (modified)"
	}
	if b.Cgo {
		lines = append(lines, [2]string{"cgo", "yes: a build with CGO_ENABLED=0 is static"})
	}
	var text strings.Builder
	fmt.Fprintf(&text, "hippocampus %s\n", b.Version)
	for _, line := range lines {
		if line[1] != "" {
			fmt.Fprintf(&text, "  %-9s %s\n", line[0], line[1])
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}
