package postgres

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/db"
	"hippocampus/db/dbtest"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
)

// Postgres plans each of a statement's first five executions, and later ones as
// long as it estimates a plan for their values to be cheaper than one for any values.
func TestPlans_AreKept(t *testing.T) {
	t.Parallel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	url := postgrestest.DatabaseURL(t)
	open := func() *Store { // with one connection
		s, err := Open(t.Context(), Options{URL: url, MaxConns: 1})
		must(err)
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	filled := open()
	must(filled.Migrate(t.Context()))
	dbtest.Load(t, filled, 20)
	// Statistics that are gathered in between make Postgres plan again.
	_, err := filled.pool.Exec(t.Context(), `DO $$ DECLARE t text; BEGIN
		FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() LOOP
			EXECUTE format('ALTER TABLE %I SET (autovacuum_enabled = false)', t);
		END LOOP; END $$`)
	must(err)
	var again map[string]string
	for range 3 {
		// The cluster's other databases change their catalogs also. A session that falls far behind such changes discards
		// all plans (SharedInvalidMessages in Postgres), and may estimate the tables differently by then. A statement that
		// needs a plan for its values needs it in every session.
		_, err = filled.pool.Exec(t.Context(), `VACUUM ANALYZE`)
		must(err)
		found := plannedAgain(t, open(), memory.Owner{AppID: "app7", UserID: "user7"})
		if again == nil {
			again = found
		}
		maps.DeleteFunc(again, func(sql, _ string) bool { return found[sql] == "" })
		if len(again) == 0 {
			return
		}
	}
	for sql, how := range again {
		t.Errorf("%s:\n%s", how, sql)
	}
}

// plannedAgain runs requests on a new connection, whose first estimates decide how it plans. It returns the statements
// that Postgres went on planning.
func plannedAgain(t *testing.T, s *Store, owner memory.Owner) map[string]string {
	t.Helper()
	list, err := s.ListMemories(t.Context(),
		db.MemoryFilter{Owner: owner, Limit: 60, Statuses: []memory.Status{memory.Active}})
	if err != nil {
		t.Fatal(err)
	}
	kept, planned := plans(t, s)
	for i := range 40 {
		if i == 20 {
			kept, planned = plans(t, s)
		}
		request(t, s, owner, list, 1+i%6)
	}
	after, custom := plans(t, s)
	again, ran := map[string]string{}, 0
	for sql := range after {
		if n := custom[sql] - planned[sql]; n > 0 {
			again[sql] = fmt.Sprintf("planned %d times more, plan kept %d times", n, after[sql]-kept[sql])
		}
		if after[sql] > kept[sql] {
			ran++
		}
	}
	if ran < 20 {
		t.Errorf("only %d statements kept their plans: were the others not run?", ran)
	}
	return again
}

// plans counts how often the one connection ran each prepared statement with a kept
// plan, and how often with a plan for its values.
func plans(t *testing.T, s *Store) (kept, custom map[string]int) {
	t.Helper()
	kept, custom = map[string]int{}, map[string]int{}
	rows, _ := s.pool.Query(t.Context(), `SELECT statement, generic_plans, custom_plans FROM pg_prepared_statements`)
	var sql string
	var keptRuns, customRuns int
	_, err := pgx.ForEachRow(rows, []any{&sql, &keptRuns, &customRuns}, func() error {
		kept[sql], custom[sql] = keptRuns, customRuns
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return kept, custom
}

// request runs the statements of recalls, writes and turns, for a few memories.
func request(t *testing.T, s *Store, owner memory.Owner, known []memory.Memory, few int) {
	t.Helper()
	ctx, now := t.Context(), time.Now()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ids := make([]string, len(known))
	for i, m := range known {
		ids[i] = m.ID
	}
	_, err := s.Recalled(ctx, owner, ids[:few], ids[few:2*few])
	must(err)
	all, err := s.Changes(ctx, owner, 0, now.Add(-time.Hour), 1000)
	must(err)
	_, err = s.Changes(ctx, owner, all.Revision, now.Add(-time.Hour), 1000)
	must(err)
	_, err = s.Embeddings(ctx, owner, "model", ids[:few])
	must(err)
	must(s.EachEmbedding(ctx, owner, "model", 100, func(string, []float32) {}))
	turn := memory.Turn{
		ID: memory.NewID(), Owner: owner, Messages: []memory.Message{{Role: "user", Content: "hello"}}, Hash: "hash",
		Status: memory.TurnAccepted, At: now, AcceptedAt: now, QueuedAt: now,
	}
	_, _, err = s.AcceptTurn(ctx, turn, now.Add(time.Hour), nil)
	must(err)
	_, err = s.ClaimTurns(ctx, now, now.Add(time.Hour), 8)
	must(err)
	m := known[0]
	m.ID = memory.NewID()
	must(s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		must(tx.Insert(ctx, []memory.Memory{m}, now.Add(time.Hour)))
		return tx.AddEvents(ctx,
			[]memory.Event{{ID: memory.NewID(), MemoryID: m.ID, Kind: memory.EventCreated, Cause: "test", At: now}})
	}))
	must(s.RenewTurns(ctx, []string{turn.ID}, now.Add(time.Hour)))
	must(s.EndTurns(ctx, []db.EndedTurn{{ID: turn.ID}}, now))
}
