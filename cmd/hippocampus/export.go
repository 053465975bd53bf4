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

	"hippocampus/cmd/hippocampus/remote"
	"hippocampus/cmd/hippocampus/terminal"
	"hippocampus/exchange"
)

// exportCommand writes an export of a running server.
func exportCommand(o *overrides) *cobra.Command {
	user, embeddings := "", false
	cmd := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write the data of users as NDJSON to a file, or to stdout (-)",
		Long: `Write the data of users as NDJSON to a file, or to stdout (-): memories with their history and relations,
timeline facts, instructions with their versions, skills with their counts, and conversations with their
processed turns. Instructions of the app and of its agents are only part of an export of all users.

Not exported: turns without a conversation, candidates, webhooks with their secrets, announcements, jobs and API keys.`,
		Example: "  hippocampus export ada.ndjson --user ada\n  hippocampus export - --embeddings | gzip > all.ndjson.gz",
		Args:    cobra.MaximumNArgs(1),
	}
	server := o.connectionFlags(cmd)
	cmd.Flags().StringVar(&user, "user", "",
		"export only this `user` (default all users of the key's app, for an admin key)")
	cmd.Flags().BoolVar(&embeddings, "embeddings", false, "include embeddings, so that an import need not compute them")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		from, err := server.Open(cmd.Context(), cmd.InOrStdin())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, from.Close()) }()
		query := url.Values{}
		if user != "" {
			query.Set("user_id", user)
		}
		if embeddings {
			query.Set("embeddings", "true")
		}
		path := "/v1/export?" + query.Encode()
		if len(args) == 0 || args[0] == "-" {
			_, err := download(cmd, from.Server, path, cmd.OutOrStdout())
			return err
		}
		counts, err := writeFile(args[0], func(w io.Writer) (exchange.Counts, error) {
			return download(cmd, from.Server, path, w)
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "exported %v to %s\n", counts, args[0])
		if n := counts[exchange.LeftOut]; n > 0 {
			fmt.Fprintf(cmd.OutOrStdout(), "left out %d unfinished turns and consolidations: export again later\n", n)
		}
		return nil
	}
	return cmd
}

// writeFile calls f to write a file, which gets its name only once it is complete.
func writeFile(name string, f func(io.Writer) (exchange.Counts, error)) (counts exchange.Counts, err error) {
	part := name + ".part"
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) // it contains personal data
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

// download copies an export and returns the counts in its last line.
func download(cmd *cobra.Command, from remote.Server, path string, to io.Writer) (exchange.Counts, error) {
	ctx := cmd.Context()
	stream, err := from.Send(ctx, "GET", path, nil)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	bar := terminal.NewBytes(cmd.ErrOrStderr(), "exporting", -1)
	last := &lastLine{}
	_, err = io.Copy(io.MultiWriter(to, last, bar), stream)
	bar.End()
	return last.counts(ctx, err)
}

// lastLine keeps the start of the last line that is written to it. A line that states the
// end or an error fits into maxLastLine.
type lastLine struct {
	text  []byte
	ended bool // with a line break
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

// counts parses the last line of an export. copied is the error of copying it, or nil.
func (l *lastLine) counts(ctx context.Context, copied error) (exchange.Counts, error) {
	var end struct {
		End   exchange.Counts
		Error string
	}
	_ = json.Unmarshal(l.text, &end) // end stays empty if the line is another one
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
