package postgres_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore/pgvector"
)

// Indexes of the table of vectors serve the statements.
func TestVectorWrites_UseIndexes(t *testing.T) {
	t.Parallel()
	o := openOne(t)
	for i := range 10 {
		many := make([]memory.Memory, 100)
		for j := range many {
			many[j] = o.memory(fmt.Sprint("fact ", i, " ", j))
		}
		o.insert(t, many...)
	}
	if _, err := o.observer.Exec(t.Context(), `ANALYZE `+o.table); err != nil {
		t.Fatal(err)
	}
	batch := &pgx.Batch{}
	pgvector.InTransaction{}.Queue(batch, serving, []memory.Memory{o.memory("x")}, []string{memory.NewID()})
	for _, q := range batch.QueuedQueries {
		rows, _ := o.observer.Query(t.Context(), `EXPLAIN `+q.SQL, q.Arguments...)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if plan := strings.Join(lines, "\n"); err != nil || !strings.Contains(plan, o.table+"_pkey") {
			t.Errorf("no index serves %s: %v\n%s", q.SQL, err, plan)
		}
	}
	if n := len(batch.QueuedQueries); n != 2 ||
		!slices.ContainsFunc(batch.QueuedQueries,
			func(q *pgx.QueuedQuery) bool { return strings.HasPrefix(q.SQL, "DELETE") }) {
		t.Errorf("%d statements", n)
	}
}
