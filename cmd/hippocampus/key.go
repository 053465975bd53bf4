package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/exit"
	"hippocampus/internal/memory"
	"hippocampus/server/app"
	"hippocampus/server/config"
)

func keyCommand(o *overrides, host app.Host) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "key",
		Short:   "Create, list and revoke API keys",
		Example: "  hippocampus key create --name chat\n  hippocampus key list",
		Args:    noSubcommand,
		RunE:    help,
	}
	cmd.AddCommand(createKeyCommand(o, host), listKeysCommand(o), revokeKeyCommand(o, host))
	return cmd
}

func createKeyCommand(o *overrides, host app.Host) *cobra.Command {
	key := memory.Key{Role: memory.RoleWrite}
	cmd := o.command("create", "Create a key and print its secret, which is not shown again",
		[]string{"key create --name chat", "key create --role read --user ada --name dashboard"},
		func(cmd *cobra.Command, cfg config.Config) error {
			if key.AppID == "" && key.Role != memory.RoleOperator {
				key.AppID = app.DefaultApp
			}
			secret, key, err := app.CreateKey(cmd.Context(), cfg, host, key)
			if err != nil {
				return err
			}
			where := "in app " + key.AppID
			switch {
			case key.AppID == "":
				where = "for the whole server, in no app"
			case key.UserID != "":
				where += ", for the user " + key.UserID + " alone"
			}
			if key.Memory != memory.ModeOn {
				where += ", with memory " + key.Memory.String()
			}
			if key.Pool != "" {
				where += ", with the pool " + string(key.Pool)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "created key %s: role %s %s; keep the secret below, it is not shown again\n",
				key.ID, key.Role, where)
			fmt.Fprintln(cmd.OutOrStdout(), secret)
			return nil
		})
	bound := "`app` that the key is bound to (default " + app.DefaultApp + "; an operator's key: none)"
	cmd.Flags().Func("app", bound, func(text string) error {
		if why := memory.CheckID(text, false); why != "" {
			return errors.New(why)
		}
		key.AppID = text
		return nil
	})
	one := "`user` whom the key is bound to: it reads and writes that user's memories alone (default: all users)"
	cmd.Flags().Func("user", one, func(text string) error {
		if why := memory.CheckID(text, false); why != "" {
			return errors.New(why)
		}
		key.UserID = text
		return nil
	})
	cmd.Flags().StringVar(&key.Name, "name", "", "description of the key")
	cmd.Flags().Func("role", "`role`: "+roleNames()+" (default "+string(key.Role)+")", func(text string) error {
		if !slices.Contains(memory.Roles, memory.Role(text)) {
			return errors.New("give " + roleNames())
		}
		key.Role = memory.Role(text)
		return nil
	})
	how := "how much of memory is on for requests with the key, `mode`: " + modeNames() + " (default on)"
	cmd.Flags().Func("memory", how, func(text string) error {
		key.Memory = memory.ModeNamed(text)
		if text == "" || !slices.Contains(memory.Modes, key.Memory) {
			return errors.New("give " + modeNames())
		}
		return nil
	})
	pool := "what the key may do with the shared pool, `access`: none, read, write (default write; with --user none)"
	cmd.Flags().Func("pool", pool, func(text string) error {
		key.Pool = memory.PoolAccess(text)
		if !slices.Contains(memory.PoolAccesses, key.Pool) {
			return errors.New("give none, read or write")
		}
		return nil
	})
	return cmd
}

func modeNames() string {
	var names []string
	for _, mode := range memory.Modes {
		names = append(names, mode.String())
	}
	return strings.Join(names, ", ")
}

func roleNames() string {
	var names []string
	for _, role := range memory.Roles {
		names = append(names, string(role))
	}
	return strings.Join(names, ", ")
}

func listKeysCommand(o *overrides) *cobra.Command {
	var appID string
	cmd := o.command("list", "List the keys, including revoked ones", []string{"key list"},
		func(cmd *cobra.Command, cfg config.Config) error {
			keys, err := app.ListKeys(cmd.Context(), cfg, appID)
			if err != nil {
				return err
			}
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "ID\tAPP\tUSER\tROLE\tMEMORY\tCREATED\tREVOKED\tNAME")
			for _, key := range keys {
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
					key.ID, cmp.Or(key.AppID, "-"), cmp.Or(key.UserID, "-"), key.Role, key.Memory, date(key.CreatedAt),
					date(key.RevokedAt), key.Name)
			}
			return table.Flush()
		})
	cmd.Flags().StringVar(&appID, "app", "", "list only keys of this `app` (default all)")
	return cmd
}

func date(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

func revokeKeyCommand(o *overrides, host app.Host) *cobra.Command {
	cmd := o.command("revoke ID", "Revoke a key permanently",
		[]string{"key revoke 0198c0de-0000-7000-8000-000000000001"},
		func(cmd *cobra.Command, cfg config.Config) error {
			id := cmd.Flags().Arg(0)
			if err := app.RevokeKey(cmd.Context(), cfg, host, id); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "revoked key %s; running servers refuse it within %s\n", id, app.KeyTTL)
			return nil
		})
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return exit.Usagef("give the id of one key: `hippocampus key list` shows them")
	}
	return cmd
}
