package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
)

// What a recall reads of a user who was written just now, before Postgres has any statistics, is read in linear time,
// whether Postgres keeps a plan for the empty table or makes one now.
func TestReads_AreLinearWithoutStatistics(t *testing.T) {
	t.Parallel()
	reads := map[string]unanalyzed{
		"documents": {
			sql: documents, args: `'app', 'user'`, want: many - superseded,
			read: func(ctx context.Context, s *Store, owner memory.Owner) (int, error) {
				found, err := s.Documents(ctx, owner)
				return len(found), err
			},
		},
		"writes that the vector store has not confirmed": {
			sql: unconfirmed, args: `'app', 'user', '2026-01-01', 5000`, want: many - superseded,
			read: func(ctx context.Context, s *Store, owner memory.Owner) (int, error) {
				found, err := s.Unconfirmed(ctx, owner, time.Unix(0, 0), 5000)
				return len(found), err
			},
		},
	}
	for what, r := range reads {
		for plan, executions := range map[string]int{"planned while empty": 7, "planned now": 0} {
			t.Run(what+", "+plan, func(t *testing.T) {
				t.Parallel()
				r.check(t, executions)
			})
		}
	}
}

// unanalyzed is a statement that reads memories of one user.
type unanalyzed struct {
	sql, args string
	want      int // rows
	read      func(context.Context, *Store, memory.Owner) (int, error)
}

const many, superseded = 3000, 60 // memories of the user

// check reads a user's memories that were written after so many reads of the empty table.
func (r unanalyzed) check(t *testing.T, executions int) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(t.Context(), Options{URL: postgrestest.DatabaseURL(t), MaxConns: 1})
	must(err)
	t.Cleanup(func() { _ = s.Close() })
	must(s.Migrate(t.Context()))
	for _, table := range []string{"agent_memories", "memory_relations", "embeddings"} {
		_, err := s.pool.Exec(t.Context(), `ALTER TABLE `+table+` SET (autovacuum_enabled = false)`)
		must(err)
	}
	owner := memory.Owner{AppID: "app", UserID: "user"}
	for range executions {
		_, err := r.read(t.Context(), s, owner)
		must(err)
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	written := make([]memory.Memory, many)
	for i := range written {
		written[i] = memory.Memory{
			ID: memory.NewID(), Owner: owner, Content: fmt.Sprint("memory ", i),
			Type: memory.TypeFact, Domain: memory.GeneralChat, Importance: 0.5,
			Status: memory.Active, CreatedAt: at, UpdatedAt: at, LastAccessedAt: at, Revision: 1,
			EmbeddingModel: "test", Embedding: []float32{1},
		}
	}
	must(s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
		if err := tx.Insert(ctx, written, time.Time{}); err != nil {
			return err
		}
		for i := range superseded { // the first half is superseded in two steps
			m := written[i]
			m.Status, m.SupersededBy, m.Revision = memory.Superseded, written[i+superseded].ID, 2
			if i < superseded/2 {
				m.SupersededBy = written[i+superseded/2].ID
			}
			if err := tx.Update(ctx, m); err != nil {
				return err
			}
		}
		return nil
	}))
	found, err := r.read(t.Context(), s, owner)
	must(err)
	if found != r.want {
		t.Fatalf("%d memories, want %d", found, r.want)
	}
	var name string
	must(s.pool.QueryRow(t.Context(),
		`SELECT name FROM pg_prepared_statements WHERE statement = $1`, r.sql).Scan(&name))
	var raw []byte
	must(s.pool.QueryRow(t.Context(),
		`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE `+name+`(`+r.args+`)`).Scan(&raw))
	var explained []struct {
		Plan struct {
			Hit  int `json:"Shared Hit Blocks"`
			Read int `json:"Shared Read Blocks"`
		}
	}
	must(json.Unmarshal(raw, &explained))
	if pages := explained[0].Plan.Hit + explained[0].Plan.Read; pages == 0 || pages > 15*many {
		t.Errorf("%d pages are read for %d memories:\n%s", pages, many, raw)
	}
}
