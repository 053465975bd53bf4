package main

import (
	"github.com/spf13/cobra"

	"hippocampus/server/app"
)

func verifyCommand(o *overrides, host app.Host) *cobra.Command {
	repair := false
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Compare the vector store with the database; exit 1 if they differ",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := o.load()
			if err != nil {
				return err
			}
			return app.Verify(cmd.Context(), cfg, host, repair)
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "make the vector store equal to the database")
	return cmd
}

func rebuildCommand(o *overrides, host app.Host) *cobra.Command {
	return &cobra.Command{
		Use:   "rebuild",
		Short: "Fill the vector store again from the database; servers may be running",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := o.load()
			if err != nil {
				return err
			}
			return app.Rebuild(cmd.Context(), cfg, host)
		},
	}
}
