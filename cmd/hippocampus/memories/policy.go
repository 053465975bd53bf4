package memories

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"hippocampus/cmd/hippocampus/connection"
	"hippocampus/cmd/hippocampus/exit"
	"hippocampus/cmd/hippocampus/terminal"
)

// PolicyCommands returns the commands that concern what the app remembers.
func PolicyCommands(sources connection.Sources) []*cobra.Command {
	p := program{sources}
	return []*cobra.Command{p.showPolicy(), p.setPolicy(), p.policyVersions()}
}

// policyVersion is a version as the server answers it. The fields of the policy itself stay as they are.
type policyVersion struct {
	Version     int
	AsksModel   bool `json:"asks_model"`
	Note        string
	PublishedAt time.Time `json:"published_at"`
	Keep, Never map[string]any
	Categories  []map[string]any
}

func (p program) showPolicy() *cobra.Command {
	var version int
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show what the app remembers",
		Long: `Show what the app remembers, as YAML that "hippocampus policy set" takes: the policy that serves, or one of its
versions.`,
		Example:     "  hippocampus policy show > policy.yaml\n  hippocampus policy show --version 3",
		Annotations: map[string]string{Routes: "GET /v1/policy"},
		Args:        cobra.NoArgs,
	}
	cmd.Flags().IntVar(&version, "version", 0, "the `number` of the version; 0: the one that serves")
	return p.command(cmd, options{}, func(a *action, _ []string) error {
		path := "/v1/policy"
		if version != 0 {
			path += "?version=" + url.QueryEscape(fmt.Sprint(version))
		}
		var v policyVersion
		if err := a.call("GET", path, nil, &v); err != nil || a.json {
			return err
		}
		return a.printPolicy(v)
	})
}

// printPolicy prints a version, with what is known of it as a comment.
func (a *action) printPolicy(v policyVersion) error {
	policy := map[string]any{}
	if len(v.Keep) > 0 {
		policy["keep"] = v.Keep
	}
	if len(v.Never) > 0 {
		policy["never"] = v.Never
	}
	if len(v.Categories) > 0 {
		policy["categories"] = v.Categories
	}
	text, err := yaml.Marshal(policy)
	if err != nil {
		return fmt.Errorf("write the policy as YAML: %w", err)
	}
	switch {
	case v.Version == 0:
		a.Printf("# the app has no policy\n")
	case v.Note == "":
		a.Printf("# version %d of %s\n", v.Version, v.PublishedAt.Format(time.RFC3339))
	default:
		a.Printf("# version %d of %s: %s\n", v.Version, v.PublishedAt.Format(time.RFC3339), terminal.Line(v.Note))
	}
	if !v.AsksModel && strings.Contains(string(text), "instructions:") {
		a.Printf("# no chat model is configured: instructions have no effect\n")
	}
	a.Printf("%s", text) // YAML escapes control characters
	return nil
}

func (p program) setPolicy() *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use:   "set FILE",
		Short: "Say what the app remembers",
		Long: `Say what the app remembers, from a file of YAML or JSON, or "-" for standard input. It is the next version, and
decides about what is said from now on.`,
		Example:     `  hippocampus policy set policy.yaml --note "no health data"`,
		Annotations: map[string]string{Routes: "PUT /v1/policy"},
		Args:        cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&note, "note", "", "why, in a `text`")
	return p.command(cmd, options{makes: true}, func(a *action, args []string) error {
		policy, err := readPolicy(a.cmd.InOrStdin(), args[0])
		if err != nil {
			return err
		}
		if note != "" {
			policy["note"] = note
		}
		var v policyVersion
		if err := a.call("PUT", "/v1/policy", policy, &v); err != nil || a.json {
			return err
		}
		a.Printf("version %s serves\n", a.Paint(terminal.Bold, fmt.Sprint(v.Version)))
		return nil
	})
}

// readPolicy reads a policy of YAML, which includes JSON.
func readPolicy(in io.Reader, name string) (policy map[string]any, err error) {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, exit.Usagef("%v", err)
		}
		defer file.Close()
		in = file
	}
	if err := yaml.NewDecoder(in).Decode(&policy); err != nil && !errors.Is(err, io.EOF) {
		return nil, exit.Usagef("%s is neither YAML nor JSON: %v", name, err)
	}
	if policy == nil {
		policy = map[string]any{}
	}
	if _, err := json.Marshal(policy); err != nil {
		return nil, exit.Usagef("%s is no policy: %v", name, err)
	}
	return policy, nil
}

func (p program) policyVersions() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "versions",
		Short:       "List the versions of the policy",
		Example:     "  hippocampus policy versions",
		Annotations: map[string]string{Routes: "GET /v1/policy/versions"},
		Args:        cobra.NoArgs,
	}
	return p.command(cmd, options{}, func(a *action, _ []string) error {
		var rows [][]string
		err := a.pages("/v1/policy/versions", url.Values{}, "versions", 0, func(raw json.RawMessage) error {
			var v policyVersion
			err := a.decode(raw, &v)
			rows = append(rows, []string{fmt.Sprint(v.Version), age(a.Screen, v.PublishedAt), terminal.Line(v.Note)})
			return err
		})
		switch {
		case err != nil || a.json:
			return err
		case len(rows) == 0:
			a.note("The app has no policy.")
			return nil
		}
		a.Table([]terminal.Column{
			{Title: "VERSION", Right: true}, {Title: "SET", Style: terminal.Faint}, {Title: "NOTE", Grows: true},
		}, rows)
		return nil
	})
}
