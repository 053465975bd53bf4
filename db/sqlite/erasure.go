package sqlite

import (
	"context"
	"database/sql"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

// refuseErasing returns db.ErrErasing if the owner is being erased. A transaction
// that passes it ends before the owner can be marked.
func refuseErasing(ctx context.Context, tx *sql.Tx, owner memory.Owner) error {
	var erasing bool
	err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM erasures WHERE owner_hash = ? AND state = 'erasing')`,
		rowcodec.OwnerHash(owner)).Scan(&erasing)
	if err == nil && erasing {
		return db.ErrErasing
	}
	return err
}

// jobIndexes find the jobs about a turn or an owner. They are created after River's
// migrations, which may drop them.
var jobIndexes = []string{
	`CREATE INDEX IF NOT EXISTS river_job_of_turn ON river_job (` + sqlstore.JobTurn + `) WHERE ` + sqlstore.JobTurn +
		` IS NOT NULL`,
	`CREATE INDEX IF NOT EXISTS river_job_of_user ON river_job (` + sqlstore.JobUser + `, ` + sqlstore.JobApp +
		`) WHERE ` + sqlstore.JobUser + ` IS NOT NULL`,
}
