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
)

// exportCommand writes what a running server exports.
func exportCommand(o *overrides) *cobra.Command {
	user, embeddings := "", false
	cmd := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write a server's memories as NDJSON to a file, or to stdout (-)",
		Args:  cobra.MaximumNArgs(1),
	}
	server := remoteFlag(cmd, o)
	cmd.Flags().StringVar(&user, "user", "", "memories of this `user` alone (default all of the key's app, which needs an admin key)")
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
		count, err := toFile(args[0], func(w io.Writer) (int, error) { return download(cmd, from, path, w) })
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "exported %d memories to %s\n", count, args[0])
		return nil
	}
	return cmd
}

// toFile has f write a file that appears under its name only when it is whole.
func toFile(name string, f func(io.Writer) (int, error)) (count int, err error) {
	part := name + ".part"
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) // it holds what people said
	if err != nil {
		return 0, err
	}
	count, err = f(file)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return count, errors.Join(err, os.Remove(part))
	}
	return count, os.Rename(part, name)
}

// download copies an export and returns how many memories it says it has.
func download(cmd *cobra.Command, from remote, path string, to io.Writer) (int, error) {
	ctx := cmd.Context()
	stream, err := from.ask(ctx, "GET", path, nil)
	if err != nil {
		return 0, err
	}
	defer stream.Close()
	shown := progress(cmd.ErrOrStderr(), "exporting", -1)
	last := &lastLine{}
	_, err = io.Copy(io.MultiWriter(to, last, shown), stream)
	shown.end()
	return last.memories(ctx, err)
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

// memories reads the end of an export that was copied with an error or none.
func (l *lastLine) memories(ctx context.Context, copied error) (int, error) {
	var end struct {
		End   *struct{ Memories int }
		Error string
	}
	_ = json.Unmarshal(l.text, &end) // else it is no end
	switch {
	case ctx.Err() != nil:
		return 0, errors.New("interrupted")
	case end.Error != "":
		return 0, fmt.Errorf("the export broke off: %s Repeat the command", end.Error)
	case copied != nil:
		return 0, fmt.Errorf("the export broke off: %w; repeat the command", copied)
	case end.End == nil:
		return 0, errors.New("the export broke off: its end is missing; repeat the command")
	}
	return end.End.Memories, nil
}
