package postgres

import (
	"context"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/db/dbtest"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
)

// A user with many memories has few that are inactive, or private to an agent.
func TestPlans_ListFewAmongManyByTheirIndexes(t *testing.T) {
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
		m.ID, m.AgentID, m.Status, m.CreatedAt = memory.NewID(), "", memory.Active, m.CreatedAt.Add(time.Duration(i))
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
	active, forgotten := []memory.Status{memory.Active}, []memory.Status{memory.Forgotten}
	for index, f := range map[string]db.MemoryFilter{
		"agent_memories_by_time":   {Statuses: active, Since: time.Unix(0, 0)},
		"agent_memories_inactive":  {Statuses: forgotten},
		"agent_memories_of_agents": {Statuses: active, AgentID: "nobody"},
	} {
		clear(record.ran)
		f.Owner, f.Limit = owner, 50
		if _, err := recorded.ListMemories(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		for _, statement := range record.ran {
			if plan := explain(t, s, statement); !strings.Contains(plan, index) {
				t.Errorf("the list is not by %s:\n%s", index, plan)
			}
		}
		if len(record.ran) != 1 {
			t.Errorf("%d statements were recorded for %s", len(record.ran), index)
		}
	}
}
