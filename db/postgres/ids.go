package postgres

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"hippocampus/internal/memory"
)

// Ids as a statement's first or third parameter, which do not show the planner how many
// there are. Where it sees that they are few it makes a plan for these few each
// time, which costs many times what their rows do; so it takes ten in any case,
// and keeps its plan. Statements that change rows in the order in which an index
// finds them do without: their order would be the kept plan's.
const (
	third = `(SELECT $3::uuid[])`
	among = `ANY(` + third + `::uuid[])`

	amongFirst = `ANY((SELECT $1::uuid[])::uuid[])`
)

// onlyIDs are ids as a parameter, without what cannot be the id of any row.
func onlyIDs(ids []string) pgtype.FlatArray[pgtype.UUID] {
	kept := make(pgtype.FlatArray[pgtype.UUID], 0, len(ids))
	for _, id := range ids {
		if id, ok := memory.ParseID(id); ok {
			kept = append(kept, pgtype.UUID{Bytes: id, Valid: true})
		}
	}
	return kept
}

// orZero is the inverse of orNull.
func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
