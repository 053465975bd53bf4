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

// A search reads only its user's records of its interval, also in a file that an
// earlier version created.
func TestSearchSQL_UsesIndex(t *testing.T) {
	t.Parallel()
	options := Options{Path: filepath.Join(t.TempDir(), "vectors.db"), Space: vectorstore.Space{Model: "m", Dim: 4}}
	earlier, err := Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if err := earlier.exec(t.Context(), (*sql.Tx).Commit,
		`DROP INDEX records_of_user_by_time`, `CREATE INDEX records_of_user ON records (app_id, user_id)`); err != nil {
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
	since := all
	until := all
	day := all
	since.Since, until.Until = time.Unix(1, 0), time.Unix(2, 0)
	day.Since, day.Until = since.Since, until.Until
	day.Domains, day.AgentID = []memory.Domain{memory.GeneralChat}, "agent"
	const byTime, byID = "records_of_user_by_time ", "sqlite_autoindex_records_1 "
	for _, test := range []struct {
		query vectorstore.Query
		among []string
		want  string
	}{
		{all, nil, byTime + "(app_id=? AND user_id=?)"},
		{since, nil, byTime + "(app_id=? AND user_id=? AND created_at>?)"},
		{until, nil, byTime + "(app_id=? AND user_id=? AND created_at<?)"},
		{day, nil, byTime + "(app_id=? AND user_id=? AND created_at>? AND created_at<?)"},
		{all, []string{"1"}, byID + "(id=?)"},
		{day, []string{"1", "2"}, byID + "(id=?)"},
	} {
		query, args, err := searchSQL(test.query, test.among)
		if err != nil {
			t.Fatal(err)
		}
		scanStep := func(rows *sql.Rows) (step string, err error) {
			var id, parent, unused int
			err = rows.Scan(&id, &parent, &unused, &step)
			return step, err
		}
		steps, err := queryAll(t.Context(), s.reader, scanStep, `EXPLAIN QUERY PLAN `+query, args...)
		want := "SEARCH records USING INDEX " + test.want
		if err != nil || len(steps) == 0 || steps[0] != want {
			t.Errorf("%s\nhas the plan %q, want %q: %v", query, strings.Join(steps, "; "), want, err)
		}
	}
	old, err := queryAll(t.Context(), s.reader, scanName, `SELECT name FROM sqlite_schema WHERE name = 'records_of_user'`)
	if err != nil || len(old) != 0 {
		t.Errorf("the earlier index still exists: %v", err)
	}
}
