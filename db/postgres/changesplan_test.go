package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
)

// Each recall reads the changes of its user. Planning that statement costs several times what running it costs.
func TestChanges_KeepsItsPlanForUsersOfManyMemories(t *testing.T) {
	t.Parallel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	url := postgrestest.DatabaseURL(t)
	open := func() *Store {
		s, err := Open(t.Context(), Options{URL: url, MaxConns: 1})
		must(err)
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	filled := open()
	must(filled.Migrate(t.Context()))
	for _, user := range []string{"a", "b", "c"} {
		fillUser(t, filled, user, 1000)
	}
	_, err := filled.pool.Exec(t.Context(), `VACUUM ANALYZE agent_memories`)
	must(err)
	_, err = filled.pool.Exec(t.Context(), `ALTER TABLE agent_memories SET (autovacuum_enabled = false)`)
	must(err)

	s := open() // its first estimates decide how this connection plans
	owner := memory.Owner{AppID: "app", UserID: "b"}
	all, err := s.Changes(t.Context(), owner, 0, time.Now(), 1)
	must(err)
	const warmUp = 6 // the first executions are planned
	for i := range 40 {
		changed, err := s.Changes(t.Context(), owner, all.Revision, time.Now(), 1)
		must(err)
		if len(changed.Documents) != i {
			t.Fatalf("%d documents have changed, not %d", len(changed.Documents), i)
		}
		fillUser(t, s, "b", 1)
	}
	kept, custom := plans(t, s)
	for sql := range kept {
		if strings.Contains(sql, "change >") && custom[sql] > warmUp {
			t.Errorf("planned %d times, plan kept %d times:\n%s", custom[sql], kept[sql], sql)
		}
	}
}

func fillUser(t *testing.T, s *Store, user string, n int) {
	t.Helper()
	owner, at := memory.Owner{AppID: "app", UserID: user}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	memories := make([]memory.Memory, n)
	for i := range memories {
		memories[i] = memory.Memory{
			ID: memory.NewID(), Owner: owner, Content: "Keeps bees", Lexemes: "keep bee", Type: memory.TypeFact,
			Domain: memory.Lifestyle, Importance: 0.8, Status: memory.Active, Revision: 1,
			CreatedAt: at, UpdatedAt: at, LastAccessedAt: at,
		}
	}
	if err := s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, memories, at)
	}); err != nil {
		t.Fatal(err)
	}
}

// A plan that is kept from when the table was empty, or made before there are statistics, reads little more than
// the documents that have changed.
func TestChanges_ReadsFewPagesWithoutStatistics(t *testing.T) {
	t.Parallel()
	for what, executions := range map[string]int{"planned while empty": 7, "planned now": 0} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s, err := Open(t.Context(), Options{URL: postgrestest.DatabaseURL(t), MaxConns: 1})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			if err := s.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, err = s.pool.Exec(t.Context(), `ALTER TABLE agent_memories SET (autovacuum_enabled = false)`)
			if err != nil {
				t.Fatal(err)
			}
			owner := memory.Owner{AppID: "app", UserID: "a"}
			changes := func(after int64) db.Changes {
				t.Helper()
				found, err := s.Changes(t.Context(), owner, after, time.Now(), 1)
				if err != nil {
					t.Fatal(err)
				}
				return found
			}
			for range executions {
				changes(1)
			}
			const few = 3
			fillUser(t, s, "a", 3000)
			before := changes(0).Revision
			fillUser(t, s, "a", few)
			if n := len(changes(before).Documents); n != few {
				t.Fatalf("%d documents", n)
			}
			var name string
			if err := s.pool.QueryRow(t.Context(),
				`SELECT name FROM pg_prepared_statements WHERE statement = $1`, changedDocuments).Scan(&name); err != nil {
				t.Fatal(err)
			}
			var raw []byte
			explain := fmt.Sprintf(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE %s('app', 'a', %d)`, name, before)
			if err := s.pool.QueryRow(t.Context(), explain).Scan(&raw); err != nil {
				t.Fatal(err)
			}
			var explained []struct {
				Plan struct {
					Hit  int `json:"Shared Hit Blocks"`
					Read int `json:"Shared Read Blocks"`
				}
			}
			if err := json.Unmarshal(raw, &explained); err != nil {
				t.Fatal(err)
			}
			if pages := explained[0].Plan.Hit + explained[0].Plan.Read; pages == 0 || pages > 100 {
				t.Errorf("read %d pages for %d documents of 3000:\n%s", pages, few, raw)
			}
		})
	}
}
