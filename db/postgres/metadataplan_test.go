package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/db/dbtest"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
	"hippocampus/internal/memory/filter"
)

// A user with many memories has few that a filter on metadata chooses.
func TestPlans_FindMetadataByItsIndex(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	s, err := Open(t.Context(), Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	dbtest.Load(t, s, 8)
	owner := memory.Owner{AppID: "app7", UserID: "user7"}
	loaded, err := s.ListMemories(t.Context(), db.MemoryFilter{Owner: owner, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	var many []memory.Memory
	for i := range 5000 {
		m := loaded[0]
		m.ID, m.Metadata = memory.NewID(), json.RawMessage(fmt.Sprintf(`{"ticket":%d,"source":"chat"}`, i))
		many = append(many, m)
	}
	if err := s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, many, time.Time{})
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.pool.Exec(t.Context(), `VACUUM ANALYZE agent_memories`); err != nil {
		t.Fatal(err)
	}
	record, recorded := recording(t, url)
	for raw, indexed := range map[string]bool{
		`{"metadata":{"ticket":4711}}`:                                           true,
		`{"metadata":{"ticket":{"in":[1,2,3]},"source":"chat"}}`:                 true,
		`{"or":[{"metadata":{"ticket":1}},{"metadata":{"ticket":2}}]}`:           true,
		`{"and":[{"metadata":{"ticket":9}},{"metadata":{"source":{"ne":"x"}}}]}`: true,
		`{"metadata":{"source":"chat"}}`:                                         false, // all memories
		`{"metadata":{"ticket":{"gt":4990}}}`:                                    false,
	} {
		where, fault := filter.Parse([]byte(raw))
		if fault != nil {
			t.Fatal(fault)
		}
		clear(record.ran)
		if _, err := recorded.ListMemories(t.Context(), db.MemoryFilter{Owner: owner, Where: where, Limit: 5}); err != nil {
			t.Fatal(err)
		}
		if _, err := recorded.MatchingIDs(t.Context(), owner, where); err != nil {
			t.Fatal(err)
		}
		for _, statement := range record.ran {
			plan := explain(t, s, statement)
			if strings.Contains(plan, "agent_memories_metadata") != indexed {
				t.Errorf("%s: the index serves: %v, want %v\n%s", raw, !indexed, indexed, plan)
			}
		}
		if len(record.ran) < 2 {
			t.Errorf("%s: only %d statements were recorded", raw, len(record.ran))
		}
	}
}
