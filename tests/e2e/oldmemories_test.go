package e2e

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

// old imports a memory that was last changed and accessed at the beginning of a year, and returns its id.
func (s *server) old(user, content string, year int) string {
	s.t.Helper()
	id, at := memory.NewID(), fmt.Sprintf("%d-01-01T00:00:00Z", year)
	line, err := json.Marshal(object{"memory": object{
		"id": id, "user_id": user, "content": content, "type": "fact", "domain": "general_chat", "tags": []string{},
		"importance": 0.8, "pinned": false, "status": "active", "access_count": 0,
		"created_at": at, "updated_at": at, "last_accessed_at": at,
	}, "events": []object{}, "relations": []object{}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.call("POST", "/v1/import", fmt.Sprintf("%s\n%s\n%s\n",
		`{"format":"hippocampus-export","version":1,"exported_at":"2026-01-01T00:00:00Z"}`, line,
		`{"end":{"memories":1}}`), 200)
	return id
}

// predate changes the turns of a stopped server to turns from before messages were kept.
func (s *server) predate() {
	s.t.Helper()
	s.alter("UPDATE turns SET messages_kept = false")
}

// alter executes a statement on the database of a stopped server.
func (s *server) alter(statement string) {
	s.t.Helper()
	sources := map[string]string{} // drivers by source
	if url := s.setting("DATABASE_URL"); url != "" {
		sources[url] = "pgx"
	} else {
		files, err := filepath.Glob(filepath.Join(s.dir, "data", "hippocampus*.db"))
		if err != nil || len(files) == 0 {
			s.t.Fatalf("databases %v, %v", files, err)
		}
		for _, file := range files {
			sources["file:"+file] = "sqlite"
		}
	}
	for source, driver := range sources {
		db, err := sql.Open(driver, source)
		if err != nil {
			s.t.Fatal(err)
		}
		_, err = db.ExecContext(s.t.Context(), statement)
		if err := errors.Join(err, db.Close()); err != nil {
			s.t.Fatal(err)
		}
	}
}

// Turns of a year ago fade like turns of today, whether they are reported now or were reported before messages were
// kept. The job past_messages states its progress.
func TestForgetting_KeepsTurnsOfThePast(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		settings := size.settings(t)
		s := start(t, append(settings, "HIPPOCAMPUS_MESSAGES_ENABLED=false", "HIPPOCAMPUS_FORGETTING_KEEP_TYPES=none")...)
		lastYear := now().AddDate(-1, 0, 0)
		say := func(said string, at time.Time) {
			s.call("POST", "/v1/turns", object{
				"user_id": "ada", "conversation_id": at.String(), "at": at.Format(time.RFC3339), "wait": true,
				"messages": []object{{"role": "user", "content": said}},
			}, 200)
		}
		say("Which telescope shows the rings of Saturn?", lastYear)
		s.stop()
		s.predate()
		s.env = append(s.env, "HIPPOCAMPUS_MESSAGES_ENABLED=true")
		s.run()
		key := s.key
		s.key = s.createKey("--role", "operator") // the job is of the whole server
		eventually(t, "the end of the job past_messages", func() string {
			jobs := s.call("GET", "/v1/jobs?kind=past_messages", nil, 200)
			for _, job := range jobs.list("jobs") {
				if done, _ := job["result"].(map[string]any); done["turns"] == 1.0 && done["messages"] == 1.0 &&
					done["remaining"] == 0.0 {
					return ""
				}
			}
			return jobs.raw
		})
		s.key = key
		say("My telescope is a refractor of ninety millimetres.", lastYear)
		say("My garden has three apple trees.", now())
		before := s.everything("ada")
		if len(before) < 4 { // three messages and at least one fact
			t.Fatalf("active memories: %q", before)
		}

		r := s.call("POST", "/v1/forget", object{"user_id": "ada", "dry_run": false, "whole": true}, 200)
		if left := s.everything("ada"); len(left) != len(before) {
			t.Errorf("of %q the run left %q: %s", before, left, r.raw)
		}
		for days, due := range map[int]bool{17: false, 30: true} {
			at := now().AddDate(0, 0, days).Format(time.RFC3339)
			r := s.call("POST", "/v1/forget", object{"user_id": "ada", "at": at}, 200)
			if (r.body["due"] != 0.0) != due {
				t.Errorf("after %d days: %s", days, r.raw)
			}
			for _, m := range r.list("memories") {
				if m["faded"] != due {
					t.Errorf("after %d days: %v", days, m)
				}
			}
		}
	})
}
