package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"hippocampus/exchange"
)

// exportCommand writes what a running server exports.
func exportCommand(o *overrides) *cobra.Command {
	user, embeddings := "", false
	cmd := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write what a server keeps of its users as NDJSON to a file, or to stdout (-)",
		Long: "Write what a server keeps of its users as NDJSON to a file, or to stdout (-): memories with their history and\n" +
			"relations, facts with their timelines, instructions with their versions, skills with their counts, and\n" +
			"conversations with their turns, as far as these are settled.\n" +
			"Those of the app and its agents go with an export of every user alone.\n\n" +
			"Turns without a conversation, candidates, webhooks with their secrets, announcements, jobs and API keys stay behind.",
		Args: cobra.MaximumNArgs(1),
	}
	server := remoteFlag(cmd, o)
	cmd.Flags().StringVar(&user, "user", "", "what is kept of this `user` alone (default all of the key's app, which needs an admin key)")
	cmd.Flags().BoolVar(&embeddings, "embeddings", false, "with embeddings, so that an import need not make them again")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		from, err := server()
		if err != nil {
			return err
		}
		query := url.Values{}
		if user != "" {
			query.Set("user_id", user)
		}
		if embeddings {
			query.Set("embeddings", "true")
		}
		path := "/v1/export?" + query.Encode()
		if len(args) == 0 || args[0] == "-" {
			_, err := download(cmd, from, path, cmd.OutOrStdout())
			return err
		}
		counts, err := toFile(args[0], func(w io.Writer) (exchange.Counts, error) { return download(cmd, from, path, w) })
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "exported %v to %s\n", counts, args[0])
		if n := counts[exchange.LeftOut]; n > 0 {
			fmt.Fprintf(cmd.OutOrStdout(), "left out %d turns and consolidations that are not settled yet: export again when they are\n", n)
		}
		return nil
	}
	return cmd
}

// toFile has f write a file that appears under its name only when it is whole.
func toFile(name string, f func(io.Writer) (exchange.Counts, error)) (counts exchange.Counts, err error) {
	part := name + ".part"
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) // it holds what people said
	if err != nil {
		return nil, err
	}
	counts, err = f(file)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return counts, errors.Join(err, os.Remove(part))
	}
	return counts, os.Rename(part, name)
}

// download copies an export and returns what it says it has.
func download(cmd *cobra.Command, from remote, path string, to io.Writer) (exchange.Counts, error) {
	ctx := cmd.Context()
	stream, err := from.ask(ctx, "GET", path, nil)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	shown := progress(cmd.ErrOrStderr(), "exporting", -1)
	last := &lastLine{}
	_, err = io.Copy(io.MultiWriter(to, last, shown), stream)
	shown.end()
	return last.counts(ctx, err)
}

// lastLine keeps the last line that is written to it, as far as it may be an
// end or an error.
type lastLine struct {
	text  []byte
	ended bool // a line break has come
}

const maxLastLine = 64 << 10

func (l *lastLine) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		if l.ended {
			l.text = l.text[:0]
		}
		var part []byte
		part, rest, l.ended = bytes.Cut(rest, []byte("\n"))
		l.text = append(l.text, part[:min(len(part), maxLastLine-len(l.text))]...)
	}
	return len(p), nil
}

// counts reads the end of an export that was copied with an error or none.
func (l *lastLine) counts(ctx context.Context, copied error) (exchange.Counts, error) {
	var end struct {
		End   exchange.Counts
		Error string
	}
	_ = json.Unmarshal(l.text, &end) // else it is no end
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("interrupted")
	case end.Error != "":
		return nil, fmt.Errorf("the export broke off: %s Repeat the command", end.Error)
	case copied != nil:
		return nil, fmt.Errorf("the export broke off: %w; repeat the command", copied)
	case end.End == nil:
		return nil, errors.New("the export broke off: its end is missing; repeat the command")
	}
	return end.End, nil
}
