package sqlitevec

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// TestPlans: a search reads no more than its user's records, and of a slice of
// time no others; in a file that an earlier version made, too.
func TestPlans(t *testing.T) {
	t.Parallel()
	options := Options{Path: filepath.Join(t.TempDir(), "vectors.db"), Space: vectorstore.Space{Model: "m", Dim: 4}}
	earlier, err := Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if err := earlier.inTx(t.Context(), (*sql.Tx).Commit, `DROP INDEX records_of_user_by_time`, `CREATE INDEX records_of_user ON records (app_id, user_id)`); err != nil {
		t.Fatal(err)
	}
	if err := earlier.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all := vectorstore.Query{Owner: memory.Owner{AppID: "a", UserID: "u"}, Embedding: []float32{1, 0, 0, 0}, Limit: 1}
	since, until, day := all, all, all
	since.Since, until.Until = time.Unix(1, 0), time.Unix(2, 0)
	day.Since, day.Until, day.Domains, day.AgentID = since.Since, until.Until, []memory.Domain{memory.GeneralChat}, "agent"
	for _, test := range []struct {
		query vectorstore.Query
		found string
	}{
		{all, "(app_id=? AND user_id=?)"},
		{since, "(app_id=? AND user_id=? AND created_at>?)"},
		{until, "(app_id=? AND user_id=? AND created_at<?)"},
		{day, "(app_id=? AND user_id=? AND created_at>? AND created_at<?)"},
	} {
		query, args, err := searching(test.query)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := s.reader.QueryContext(t.Context(), `EXPLAIN QUERY PLAN `+query, args...)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var steps []string
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				t.Fatal(err)
			}
			steps = append(steps, step)
		}
		if want := "SEARCH records USING INDEX records_of_user_by_time " + test.found; rows.Err() != nil || len(steps) == 0 || steps[0] != want {
			t.Errorf("%s\nis found by %q, want %q: %v", query, strings.Join(steps, "; "), want, rows.Err())
		}
	}
	var left int
	if err := s.reader.QueryRowContext(t.Context(), `SELECT count(*) FROM sqlite_schema WHERE name = 'records_of_user'`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d of the earlier index are left: %v", left, err)
	}
}
