package sqlite

import (
	"maps"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/db/dbtest"
	"hippocampus/internal/memory"
)

// Memories that fade, or that were handed out lately, are found without reading them.
func TestAges_ReadTheIndexAlone(t *testing.T) {
	t.Parallel()
	s, record := openRecorded(t)
	owner := memory.Owner{AppID: "app", UserID: "user"}
	none := func(string, db.Age) error { return nil }
	if err := s.OwnerAges(t.Context(), owner, none); err != nil {
		t.Fatal(err)
	}
	if err := s.OldAges(t.Context(), owner, db.Old{}, none); err != nil {
		t.Fatal(err)
	}
	if err := s.Ages(t.Context(), "app", none); err != nil {
		t.Fatal(err)
	}
	if _, err := s.HandedOut(t.Context(), owner, time.Unix(0, 0), 1); err != nil {
		t.Fatal(err)
	}
	if len(record.ran) != 4 {
		t.Fatalf("ran %v", record.ran)
	}
	for query, args := range maps.Clone(record.ran) {
		want := "SEARCH agent_memories USING COVERING INDEX agent_memories_ages (app_id=? AND user_id=?)"
		switch {
		case strings.Contains(query, "+user_id"):
			want = "SEARCH agent_memories USING COVERING INDEX agent_memories_ages (app_id=?)"
		case strings.Contains(query, "LIMIT"):
			want = "SEARCH agent_memories USING INDEX agent_memories_ages " +
				"(app_id=? AND user_id=? AND <expr>=? AND last_accessed_at>?)"
		}
		rows, err := s.reader.QueryContext(t.Context(), `EXPLAIN QUERY PLAN `+query, make([]any, args)...)
		if err != nil {
			t.Fatal(err)
		}
		var steps []string
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				t.Fatal(err)
			}
			steps = append(steps, step)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		if len(steps) != 1 || steps[0] != want {
			t.Errorf("%s\nis %q, want %q alone", query, steps, want)
		}
	}
}

// An id with a line break, which no request can have, would give each memory the age of another one.
func TestAges_RefuseALineBreak(t *testing.T) {
	t.Parallel()
	s, _ := openRecorded(t)
	dbtest.Load(t, s, 1)
	owner, ages := memory.Owner{AppID: "app0", UserID: "user0"}, 0
	count := func(string, db.Age) error { ages++; return nil }
	if err := s.OwnerAges(t.Context(), owner, count); err != nil || ages < 10 {
		t.Fatalf("%d ages: %v", ages, err)
	}
	if _, err := s.writer.ExecContext(t.Context(), `UPDATE agent_memories SET agent_id = 'a' || char(10) || 'b'
		WHERE id = (SELECT min(id) FROM agent_memories WHERE status = 'active')`); err != nil {
		t.Fatal(err)
	}
	ages = 0
	if err := s.OwnerAges(t.Context(), owner, count); err == nil || ages > 0 {
		t.Errorf("%d ages: %v", ages, err)
	}
}
