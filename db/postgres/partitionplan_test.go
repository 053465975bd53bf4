package postgres

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"hippocampus/db"
	"hippocampus/db/dbtest"
	"hippocampus/db/postgres/partition"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
)

var (
	partitionedTable = regexp.MustCompile(`\b(agent_memories|embeddings|memory_events|turns)\b`)
	readPartition    = regexp.MustCompile(`Scan.* on (agent_memories|embeddings|memory_events|turns)_p(\d{3})`)
)

// queues are the statements by which workers find turns of any user: they look into an
// index of each partition.
var queues = []string{
	`SELECT id FROM turns WHERE status = 'accepted' AND due_at <= $1`, // ClaimTurns
	`WITH mine AS (SELECT id, app_id, user_id FROM turns`,             // RenewTurns, EndTurns
}

// The test explains the kept plans of recalls, writes and turns while they run on tables with partitions. The plan for
// any values lists every partition, and most are never read.
func TestPlans_PrunePartitions(t *testing.T) {
	t.Parallel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	url := postgrestest.URL(t)
	open := func() *Store {
		s, err := Open(t.Context(), Options{URL: url, MaxConns: 1})
		must(err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	filled := open()
	must(filled.Migrate(t.Context()))
	dbtest.Load(t, filled, 60)
	must(filled.Partition(t.Context(), partition.Options{Partitions: 4}))

	record, recorded := recording(t, url)
	owner := memory.Owner{AppID: "app7", UserID: "user7"}
	known, err := recorded.ListMemories(t.Context(),
		db.MemoryFilter{Owner: owner, Limit: 20, Statuses: []memory.Status{memory.Active}})
	must(err)
	request(t, recorded, owner, known, 5)
	change(t, recorded, known[0])
	_, err = filled.pool.Exec(t.Context(), `DELETE FROM memory_events WHERE user_id = $1`, owner.UserID)
	must(err) // so that the same event can be stored again

	kept := open() // its session begins after the conversion
	explained := 0
	for _, s := range record.ran {
		queue := slices.ContainsFunc(queues, func(part string) bool { return strings.Contains(s.sql, part) })
		if !partitionedTable.MatchString(s.sql) || queue {
			continue
		}
		plan := explainKept(t, kept, s)
		read := map[string]bool{}
		for line := range strings.Lines(plan) {
			found := readPartition.FindStringSubmatch(line)
			if found != nil && !strings.Contains(line, "never executed") {
				read[found[2]] = true
			}
		}
		if len(read) > 1 {
			t.Errorf("%d partitions are read by\n%s\n\n%s", len(read), s.sql, plan)
		}
		explained++
	}
	if explained < 18 {
		t.Errorf("only %d statements were explained: were the others not recorded?", explained)
	}
}

// change runs the statements of a recall's touches and of a changed memory.
func change(t *testing.T, s *Store, m memory.Memory) {
	t.Helper()
	ctx, now := t.Context(), time.Now()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Touch(ctx, []db.Touch{{Owner: m.Owner, ID: m.ID, Count: 1, At: now}}))
	must(s.InUser(ctx, m.Owner, func(ctx context.Context, tx db.UserTx) error {
		_, _, err := tx.SameContent(ctx, m.AgentID, m.Content)
		must(err)
		changed, err := tx.Memories(ctx, []string{m.ID})
		must(err)
		changed[0].Revision++
		return tx.Update(ctx, changed[0])
	}))
	_, err := s.Hydrate(ctx, m.Owner, []string{m.ID}, []string{m.ID})
	must(err)
	_, err = s.Unconfirmed(ctx, m.Owner, now, 10)
	must(err)
	must(s.FinishVectors(ctx, []db.VectorTask{{Memory: m}}, now))
}

// explainKept runs a statement with a plan for any values, and rolls its changes back.
func explainKept(t *testing.T, s *Store, of statement) string {
	t.Helper()
	tx, err := s.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	prepared, err := tx.Prepare(t.Context(), "explained", of.sql)
	if err != nil {
		t.Fatalf("%v\n%s", err, of.sql)
	}
	defer func() { _ = tx.Conn().Deallocate(t.Context(), "explained") }()
	args := []any{pgx.QueryExecModeSimpleProtocol} // which makes literals of the arguments, as EXECUTE needs them
	var places []string
	for i, arg := range of.args {
		text, err := tx.Conn().TypeMap().Encode(prepared.ParamOIDs[i], pgtype.TextFormatCode, arg, []byte{})
		if err != nil {
			t.Fatal(err)
		}
		arg = nil
		if text != nil {
			arg = string(text)
		}
		args = append(args, arg)
		places = append(places, fmt.Sprintf("$%d", i+1))
	}
	execute := "EXECUTE explained"
	if len(places) > 0 {
		execute += "(" + strings.Join(places, ", ") + ")"
	}
	lines, err := explainedLines(t, tx, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) "+execute, args)
	if sqlState(err) == uniqueViolation { // it inserts a row that it has inserted before
		lines, err = explainedLines(t, tx, "EXPLAIN "+execute, args)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, of.sql)
	}
	return strings.Join(lines, "\n")
}

// explainedLines runs an EXPLAIN, and rolls its changes back if it fails.
func explainedLines(t *testing.T, tx pgx.Tx, explain string, args []any) (lines []string, err error) {
	t.Helper()
	err = pgx.BeginFunc(t.Context(), tx, func(tx pgx.Tx) error {
		rows, err := tx.Query(t.Context(), explain, args...)
		if err == nil {
			lines, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		return err
	})
	return lines, err
}
