package memories

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"hippocampus/internal/wire"
)

func (p program) undo() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "undo ID...",
		Short: "Take summaries and insights back; their sources are active again",
		Long: `Take summaries and insights back: they are forgotten, and the memories that were condensed into them are active
again. "hippocampus episode show" lists the summaries of an episode.`,
		Example:     "  hippocampus undo 5a1fe2d9 --user ada",
		Annotations: map[string]string{Routes: "POST /v1/memories/{id}/undo"},
		Args:        some("no memory is named: give its id; `hippocampus list --type summary --type reflection` shows it"),
	}
	return p.command(cmd, options{user: true}, func(a *action, args []string) error {
		ids, err := a.resolve(args)
		if err != nil {
			return err
		}
		for _, id := range ids {
			var answer struct {
				Memory   wire.Memory
				Restored []json.RawMessage
			}
			if err := a.call("POST", memoryPath(id)+"/undo", nil, &answer); err != nil {
				return err
			}
			if !a.json {
				a.done("undid", answer.Memory.ID, answer.Memory.Content)
				a.Printf("restored %s\n", count(len(answer.Restored), "memory", "memories"))
			}
		}
		return nil
	})
}
