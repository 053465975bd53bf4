package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/chatfile"
	"hippocampus/cmd/hippocampus/exit"
	"hippocampus/cmd/hippocampus/terminal"
	"hippocampus/cmd/hippocampus/turnfile"
	"hippocampus/exchange"
)

// importCommand sends an export to a running server.
func importCommand(o *overrides) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Send an export from a file, or from stdin (-), to a server; exit 1 if a line fails",
		Long: `Send an export from a file, or from stdin (-), to a server; exit 1 if a line fails.

Data that exists already is skipped, never overwritten: to resume an import that broke off, repeat it.

With --from chatgpt, claude, openwebui or zep the file holds the chats of that program: the zip that ChatGPT and Claude
send, the JSON that Open WebUI exports, or messages of Zep's API. They become turns, with the times at which they were
said. Chats of Open WebUI are their users', unless --user is given. Import a newer export the same way: what is there
already is skipped.

With --from turns each line of the file is a turn, as a body of POST /v1/turns: chats of another program, with the times
at which they were said. A turn without user_id is of --user. The server processes the turns afterwards.

With --from mem0 the file is a JSON list of mem0's memories, such as the answer of its get_all. Memories that say the
same as one of the user are merged into it, so that this import can be repeated, too.`,
		Example: "  hippocampus import ada.ndjson\n" +
			"  hippocampus import --from chatgpt chatgpt.zip --user ada\n" +
			"  hippocampus import --from turns chats.ndjson --user ada\n" +
			"  hippocampus import --from mem0 mem0.json",
		Args: cobra.ExactArgs(1),
	}
	server := o.connectionFlags(cmd)
	server.AddUser(cmd)
	programs := chatfile.Formats()
	formats := slices.Concat([]string{"hippocampus", "turns", "mem0"}, programs)
	format := cmd.Flags().String("from", "hippocampus", "what the file holds: `FORMAT` is one of "+
		strings.Join(formats, ", "))
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		chats := slices.Contains(programs, *format)
		switch {
		case !slices.Contains(formats, *format):
			return exit.Usagef("--from %q is unknown: give one of %s", *format, strings.Join(formats, ", "))
		case chats && args[0] == "-":
			return exit.Usagef("--from %s reads a file, not stdin", *format)
		}
		_, absent := os.Stat(args[0])
		server.Make = args[0] == "-" || absent == nil // make no folder if the imported file does not exist
		to, err := server.Open(cmd.Context(), cmd.InOrStdin())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, to.Close()) }()
		from, size := cmd.InOrStdin(), int64(-1)
		target := turnfile.Target{Server: to.Server, User: to.User, Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr()}
		if args[0] != "-" {
			file, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
				size = info.Size()
			}
			from = file
			if chats {
				export, err := chatfile.Open(*format, file, size)
				if err != nil {
					return fmt.Errorf("%s: %w", args[0], err)
				}
				return turnfile.ImportChats(cmd.Context(), target, export)
			}
		}
		switch *format {
		case "mem0":
			return importMem0(cmd, to.Server, from)
		case "turns":
			return turnfile.Import(cmd.Context(), target, from, size)
		}
		bar := terminal.NewBytes(cmd.ErrOrStderr(), "importing", size)
		// The wrapper hides the length and Close, so that the body is streamed.
		response, err := to.Send(cmd.Context(), "POST", "/v1/import", struct{ io.Reader }{io.TeeReader(from, bar)})
		bar.End()
		if err != nil {
			return err
		}
		defer response.Close()
		var report exchange.Report
		if err := json.NewDecoder(response).Decode(&report); err != nil {
			return fmt.Errorf("the response broke off: %w; repeat the command", err)
		}
		return printReport(cmd, report)
	}
	return cmd
}

// printReport prints a report. It returns an error if a line failed or the export is incomplete.
func printReport(cmd *cobra.Command, report exchange.Report) error {
	for _, e := range report.Errors {
		fmt.Fprintf(cmd.ErrOrStderr(), "line %d: %s\n", e.Line, e.Message)
	}
	if n := report.Failed - len(report.Errors); n > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "and %d more lines failed\n", n)
	}
	const line = "imported %d %s, skipped %d that were there already\n"
	fmt.Fprintf(cmd.OutOrStdout(), line, report.Imported, "memories", report.Skipped)
	for _, kind := range exchange.Kinds {
		if t, ok := report.Others[kind]; ok {
			fmt.Fprintf(cmd.OutOrStdout(), line, t.Imported, kind.Words(), t.Skipped)
		}
	}
	switch {
	case report.Failed > 0:
		return fmt.Errorf("%d of %d lines failed", report.Failed, report.Lines)
	case !report.Complete:
		return errors.New("the export is incomplete: its end is missing or counts other lines")
	}
	return nil
}
