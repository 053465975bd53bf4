package memories

import (
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/exit"
	"hippocampus/cmd/hippocampus/terminal"
)

func (p program) zone() *cobra.Command {
	var unset bool
	cmd := &cobra.Command{
		Use:   "zone [NAME]",
		Short: "Show or set the time zone of a user",
		Long: `Show or set the time zone of a user. It decides which day it is for the user, in contexts and for the times
that the user names. Without a chosen zone the offset of the user's last turn decides, else the setting time.zone.`,
		Example: `  hippocampus zone --user ada
  hippocampus zone Asia/Shanghai --user ada
  hippocampus zone --unset --user ada`,
		Annotations: map[string]string{Routes: "GET /v1/users/{user_id}\nPUT /v1/users/{user_id}"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && (unset || args[0] == "") {
				return exit.Usagef("give one name of a zone, such as Asia/Shanghai, or --unset")
			}
			return nil
		},
		ValidArgsFunction: fixed(),
	}
	cmd.Flags().BoolVar(&unset, "unset", false, "choose none")
	return p.command(cmd, options{user: true, makes: true}, func(a *action, args []string) error {
		user, err := a.NeedUser()
		if err != nil {
			return err
		}
		method, body := "GET", any(nil)
		if unset || len(args) == 1 {
			method, body = "PUT", map[string]string{"time_zone": strings.Join(args, "")}
		}
		var zone struct {
			Zone       string
			TimeZone   string `json:"time_zone"`
			LastOffset string `json:"last_offset"`
		}
		if err := a.call(method, "/v1/users/"+url.PathEscape(user), body, &zone); err != nil || a.json {
			return err
		}
		why := "the setting time.zone"
		switch {
		case zone.TimeZone != "":
			why = "chosen"
		case zone.LastOffset != "":
			why = "the offset of the last turn"
		}
		a.Printf("%s  %s\n", a.Paint(terminal.Bold, terminal.Line(zone.Zone)), a.Paint(terminal.Faint, why))
		return nil
	})
}
