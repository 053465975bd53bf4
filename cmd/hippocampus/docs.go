package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"hippocampus/server/app"
)

func docsCommand() *cobra.Command {
	var folder, repository string
	cmd := &cobra.Command{
		Use: "docs", Short: "Write the documentation as static pages",
		Long: `Write the documentation, which the server shows at /docs/, as static pages into a folder for any web server.
Files that are there already are replaced, and others are kept.`,
		Example: `  hippocampus docs --out site
  hippocampus docs --out site --repository https://git.example.com/hippocampus/blob/main`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			n, err := app.WriteDocumentation(folder, repository)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d files in %s\n", n, folder)
			return nil
		},
	}
	cmd.Flags().StringVar(&folder, "out", "", "`folder` to write to")
	cmd.Flags().StringVar(&repository, "repository", "",
		"`address` of the repository's files; without it, links to files of the repository are text")
	_ = cmd.MarkFlagRequired("out") // fails for unknown flags only
	return cmd
}
