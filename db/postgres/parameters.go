package postgres

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"hippocampus/internal/memory"
)

// Ids as a statement's first or third parameter, in a form that hides from the
// planner how many there are. If it saw that they are few it would plan each
// execution for them, which costs many times what reading their rows costs; so it
// assumes ten and keeps its plan. Statements that change rows in the order in
// which an index finds them use plain parameters, because the kept plan could
// choose another order.
const (
	third = `(SELECT $3::uuid[])`
	among = `ANY(` + third + `::uuid[])`

	amongFirst = `ANY((SELECT $1::uuid[])::uuid[])`
)

// onlyIDs are ids as a parameter, without the ids that no row can have.
func onlyIDs(ids []string) pgtype.FlatArray[pgtype.UUID] {
	kept := make(pgtype.FlatArray[pgtype.UUID], 0, len(ids))
	for _, id := range ids {
		if id, ok := memory.ParseID(id); ok {
			kept = append(kept, pgtype.UUID{Bytes: id, Valid: true})
		}
	}
	return kept
}

// column collects a value of each item, for unnest.
func column[T, V any](items []T, value func(T) V) []V {
	values := make([]V, len(items))
	for i, item := range items {
		values[i] = value(item)
	}
	return values
}

// textOrNull is the parameter for a text that is stored as null if it is empty.
func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// orNull is the parameter for a time that is stored as null if it is zero.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
