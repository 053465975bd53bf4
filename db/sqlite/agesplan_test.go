package sqlite

import (
	"maps"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
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
