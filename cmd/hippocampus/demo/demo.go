// Package demo walks a newcomer through what the server does:
//
//	texts/LANG.yaml -> requests to a temporary server, or to that of --url -> what happened, and why
package demo

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"hippocampus/cmd/hippocampus/connection"
	"hippocampus/cmd/hippocampus/exit"
	"hippocampus/cmd/hippocampus/remote"
	"hippocampus/cmd/hippocampus/terminal"
	"hippocampus/forgetting"
	"hippocampus/internal/memory"
	"hippocampus/server/config"
)

//go:embed texts/*.yaml
var texts embed.FS

// script is a language's demonstration.
type script struct {
	User    string
	Begin   string
	Saying  string
	Asking  string
	Answer  string
	Pause   string
	End     string
	Removed string
	Erased  string
	Steps   []step
}

// step explains and does one thing. A step with a title begins a stage.
type step struct {
	Title    string
	Explain  string
	Say      string // report it as a turn of the user
	Ask      string // ask it as a recall
	Context  string // ask for a context with it
	Remember string // write it as a memory that is dated DaysAgo, with a preview of forgetting
	DaysAgo  int    `yaml:"days_ago"`
	List     bool   // list the memories with their statuses
	Forget   bool   // forget the faded memories, and restore them
}

func readScript(language string) (script, error) {
	var s script
	raw, err := texts.ReadFile("texts/" + language + ".yaml")
	if err != nil {
		return s, exit.Usagef("--lang %q is unknown: give en or zh", language)
	}
	err = yaml.Unmarshal(raw, &s)
	return s, err
}

// Command returns the command.
func Command(sources connection.Sources) *cobra.Command {
	language, noPause := "", false
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show what it does: a turn, the gate, recall, a contradiction, forgetting",
		Long: `Show what it does, stage by stage, with the reason for each result: a turn, the gate, recall, a contradiction,
forgetting and restoring, the text for a prompt.

It runs on a temporary server within this process, without keys and models, and leaves nothing behind. With --url it
runs on a server as a user of its own, and erases that user at the end, which needs an admin key.`,
		Example: "  hippocampus demo --no-pause\n  hippocampus demo --lang zh --no-pause",
		Args:    cobra.NoArgs,
	}
	server := sources.Add(cmd)
	cmd.Flags().StringVar(&language, "lang", "en", "`language`: en or zh")
	cmd.Flags().BoolVar(&noPause, "no-pause", false, "do not wait between the stages")
	_ = cmd.RegisterFlagCompletionFunc("lang",
		cobra.FixedCompletions([]string{"en", "zh"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		s, err := readScript(language)
		if err != nil {
			return err
		}
		getenv := func(name string) string { return config.Lookup(sources.Env, name) }
		play := player{
			script: s, in: cmd.InOrStdin(),
			Screen: terminal.NewScreen(cmd.OutOrStdout(), getenv, sources.Host.Now()),
			pauses: !noPause && terminal.IsTerminal(cmd.InOrStdin()) && terminal.IsTerminal(cmd.OutOrStdout()),
		}
		if server.URL != "" || server.Login != "" {
			return play.onServer(cmd.Context(), server)
		}
		return play.onTemporary(cmd.Context(), sources)
	}
	return cmd
}

// onTemporary plays on a server within the process, which does not see the settings of this machine.
func (p *player) onTemporary(ctx context.Context, sources connection.Sources) (err error) {
	folder, err := os.MkdirTemp("", "hippocampus-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	cfg, err := config.Load(config.Sources{Flags: map[string]string{
		"data": folder, "log.level": "error", "forgetting.clock": string(forgetting.WallClock),
	}})
	if err != nil {
		return err
	}
	session, err := connection.OpenFolder(ctx, cfg, sources.Host)
	if err != nil {
		return err
	}
	err = p.play(ctx, session.Server)
	if err = errors.Join(err, session.Close()); err == nil {
		p.Indented("", terminal.Faint, p.Removed)
	}
	return err
}

// onServer plays on a server as a separate user, and erases this user at the end.
func (p *player) onServer(ctx context.Context, flags *connection.Flags) (err error) {
	session, err := flags.Open(ctx, p.in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	p.User = "demo-" + memory.NewID()
	erase := func(ctx context.Context) error {
		_, err := session.Call(ctx, "DELETE", "/v1/users/"+url.PathEscape(p.User), nil)
		return err
	}
	if err := erase(ctx); err != nil {
		var refusal *remote.Refusal
		if errors.As(err, &refusal) && refusal.ExitCode() == exit.Refused {
			return fmt.Errorf("%w; the demo erases its user at the end, which needs an admin key; without --url it uses a "+
				"temporary server", err)
		}
		return err
	}
	defer func() {
		failure := erase(context.WithoutCancel(ctx))
		if err = errors.Join(err, failure); err == nil {
			p.Indented("", terminal.Faint, p.Erased)
		}
	}()
	return p.play(ctx, session.Server)
}
