package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"hippocampus/exchange"
)

// importCommand sends an export to a running server.
func importCommand(o *overrides) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Send an export, from a file or stdin (-), to a server; exit 1 where lines fail",
		Long: "Send an export, from a file or stdin (-), to a server; exit 1 where lines fail.\n\n" +
			"What is there already is skipped and nothing is overwritten, so that an import that broke off is resumed by repeating it.",
		Args: cobra.ExactArgs(1),
	}
	server := remoteFlag(cmd, o)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		to, err := server()
		if err != nil {
			return err
		}
		from, size := cmd.InOrStdin(), int64(-1)
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
		}
		shown := progress(cmd.ErrOrStderr(), "importing", size)
		// Neither a length nor a Close: the stream is sent as it comes.
		answer, err := to.ask(cmd.Context(), "POST", "/v1/import", struct{ io.Reader }{io.TeeReader(from, shown)})
		shown.end()
		if err != nil {
			return err
		}
		defer answer.Close()
		var report exchange.Report
		if err := json.NewDecoder(answer).Decode(&report); err != nil {
			return fmt.Errorf("the answer broke off: %w; repeat the command", err)
		}
		return tell(cmd, report)
	}
	return cmd
}

// tell prints a report. Lines that failed, and an export that is not whole, are an error.
func tell(cmd *cobra.Command, report exchange.Report) error {
	for _, e := range report.Errors {
		fmt.Fprintf(cmd.ErrOrStderr(), "line %d: %s\n", e.Line, e.Message)
	}
	if n := report.Failed - len(report.Errors); n > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "and %d more lines failed\n", n)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "imported %d memories, skipped %d that were there already\n", report.Imported, report.Skipped)
	for _, kind := range exchange.Kinds {
		if t, came := report.Others[kind]; came {
			fmt.Fprintf(cmd.OutOrStdout(), "imported %d %s, skipped %d that were there already\n", t.Imported, kind.Words(), t.Skipped)
		}
	}
	switch {
	case report.Failed > 0:
		return fmt.Errorf("%d of %d lines failed", report.Failed, report.Lines)
	case !report.Complete:
		return fmt.Errorf("the export is not whole: its end is missing, or counts other lines")
	}
	return nil
}
