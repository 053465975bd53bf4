package e2e

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"hippocampus/internal/memory"
)

// left returns everything about a user that the stores, the lists and the exports have.
func (r *erasureRace) left(user string) string {
	r.t.Helper()
	s := r.server()
	found := s.rowsNaming(user)
	if s.setting("MILVUS_MEMORY_COLLECTION") != "" {
		for _, record := range append(s.records(modelA), s.records(modelB)...) {
			if record.UserID == user {
				found = append(found, "Milvus has "+record.ID)
			}
		}
	}
	for _, id := range s.activeIDs(user, func(object) bool { return true }) {
		found = append(found, "the list has "+id)
	}
	if lines := r.export(user); strings.Contains(lines, user) {
		found = append(found, "the export has "+lines)
	}
	return fmt.Sprintf("%.2000s", strings.Join(found, "\n"))
}

// rowsNaming returns the rows of all tables of a server's databases that contain a text in any column. A table or file
// may be dropped while it is read, when another embedding model takes over: then the tables are listed again.
func (s *server) rowsNaming(text string) (found []string) {
	s.t.Helper()
	if url := s.setting("DATABASE_URL"); url != "" {
		eventually(s.t, "reading all tables", func() string {
			rows, err := rowsNaming(s.t, "pgx", url,
				`SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`, text)
			found = rows
			return described(err)
		})
		return found
	}
	files, err := filepath.Glob(filepath.Join(s.dir, "data", "*.db"))
	if err != nil || len(files) < 2 {
		s.t.Fatalf("databases %v, %v", files, err)
	}
	for _, file := range files {
		eventually(s.t, "reading "+file, func() string {
			rows, err := rowsNaming(s.t, "sqlite", "file:"+file+"?mode=ro&_pragma=busy_timeout(60000)",
				`SELECT name FROM sqlite_schema WHERE type = 'table'`, text)
			if _, missing := os.Stat(file); errors.Is(missing, fs.ErrNotExist) {
				return ""
			}
			if err == nil {
				found = append(found, rows...)
			}
			return described(err)
		})
	}
	return found
}

// described returns the text of an error, for eventually.
func described(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

func rowsNaming(t *testing.T, driver, source, tables, text string) (found []string, err error) {
	t.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	names, err := selected(t, db, tables)
	if err != nil {
		return nil, err
	}
	for _, table := range names {
		rows, err := selected(t, db, `SELECT * FROM "`+table+`"`)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if strings.Contains(row, text) {
				found = append(found, fmt.Sprintf("%s has %.300s", table, row))
			}
		}
	}
	return found, nil
}

// selected returns the rows of a query, the values of each joined by spaces.
func selected(t *testing.T, db *sql.DB, query string) (all []string, err error) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values := make([]sql.RawBytes, len(columns))
	into := make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, fmt.Errorf("%s: %w", query, err)
		}
		var row []string
		for _, value := range values {
			row = append(row, string(value))
		}
		all = append(all, strings.Join(row, " "))
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	return all, nil
}

// importSlowly starts an import of a user's memories that takes half a second, and returns when the first are stored.
func (r *erasureRace) importSlowly(work *sync.WaitGroup, user string) {
	r.t.Helper()
	s := r.server()
	var lines []string
	var first string
	for i := range raceImport {
		id := memory.NewID()
		if i == 0 {
			first = id
		}
		lines = append(lines, fmt.Sprintf(`{"memory":{"id":%q,"user_id":%q,"content":"%s saw bird %d","type":"fact",`+
			`"domain":"general_chat","tags":[],"importance":0.5,"pinned":false,"status":"active",`+
			`"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z",`+
			`"last_accessed_at":"2026-01-01T00:00:00Z","access_count":0},"events":[],"relations":[]}`+"\n", id, user, user, i))
	}
	stream, in := io.Pipe()
	work.Go(func() {
		_, _ = io.WriteString(in, `{"format":"hippocampus-export","version":1,"exported_at":"2026-05-01T12:00:00Z"}`+"\n")
		for i, line := range lines {
			if i > raceImport/2 {
				time.Sleep(r.pause(8))
			}
			_, _ = io.WriteString(in, line)
		}
		_, _ = fmt.Fprintf(in, "{\"end\":{\"memories\":%d}}\n", raceImport)
		_ = in.Close()
	})
	work.Go(func() {
		request, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, s.address()+"/v1/import", stream)
		if err != nil {
			r.t.Error(err)
			return
		}
		request.Header.Set("Authorization", "Bearer "+s.key)
		request.Header.Set("Content-Type", "application/x-ndjson")
		answer, err := httpClient.Do(request)
		if err != nil {
			r.t.Errorf("import of %s: %v", user, err)
			return
		}
		defer answer.Body.Close()
		var report bytes.Buffer
		if _, err := report.ReadFrom(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
			r.t.Errorf("import of %s: %d %v %s", user, answer.StatusCode, err, report.String())
		}
	})
	eventually(r.t, "the first memories being imported", func() string {
		if a := r.servers[0].call("GET", "/v1/memories/"+first, nil, 200, 404); a.status != 200 {
			return a.raw
		}
		return ""
	})
}

// changeModel restarts the servers with the other embedding model.
func (r *erasureRace) changeModel() {
	r.t.Helper()
	r.model = 1 - r.model
	for _, s := range r.servers {
		s.stop()
		s.env = append(s.env, "MEMORY_EMBEDDING_MODEL="+[]string{modelA.Model, modelB.Model}[r.model])
		s.run()
	}
}
