package app

import (
	"context"
	"fmt"
	"os"

	humanize "github.com/dustin/go-humanize"

	"hippocampus/db/sqlite"
	"hippocampus/internal/memory"
	"hippocampus/server/config"
)

// Backup writes the SQLite database of the data folder into a file, while servers may run. KindInvalid: the database is
// a Postgres. KindNotFound: there is no database. KindConflict: the file exists.
func Backup(ctx context.Context, cfg config.Config, host Host, file string) error {
	if cfg.Database.URL != "" {
		return memory.Errorf(memory.KindInvalid,
			"the database is a Postgres: back it up with pg_dump --format=custom, see docs/operations/backup.md")
	}
	log := newLog(cfg.Log, host.Err)
	defer func() { _ = log.Sync() }()
	return withDatabase(ctx, cfg, log, func(record *database) error {
		if err := record.Store.(*sqlite.Store).Backup(ctx, file); err != nil {
			return err
		}
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(host.Out, "wrote %s of memories to %s\n", humanize.Bytes(uint64(info.Size())), file)
		return err
	})
}
