package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/vectorstore/milvus/milvustest"
)

// backedUp is a size of an installation with the commands of docs/operations/backup.md for it.
type backedUp struct {
	name     string
	settings func(t *testing.T) []string
	backup   func(s *server, file string)
	restore  func(s *server, file string) // into the empty stores of a server that does not run
}

var backedUpSizes = []backedUp{
	{
		name: "sqlite",
		settings: func(*testing.T) []string {
			// The servers confirm the vectors of an own write at different times.
			return []string{"HIPPOCAMPUS_RECALL_OWN_WINDOW=0s"}
		},
		backup: func(s *server, file string) { s.command("backup", file) },
		restore: func(s *server, file string) {
			s.execute("mkdir", "-m", "700", "data")
			s.execute("cp", file, "data/hippocampus.db")
		},
	},
	{
		name: "postgres+milvus",
		settings: func(t *testing.T) []string {
			return append(large(t, milvustest.Addr(t)), "DATABASE_URL="+postgrestest.DatabaseURL(t),
				// By default recall would compare so few memories, and own writes, in the database.
				"HIPPOCAMPUS_RECALL_COMPARE_LIMIT=0", "HIPPOCAMPUS_RECALL_OWN_WINDOW=0s")
		},
		backup:  dump,
		restore: restoreDump,
	},
	{
		name: "pgvector",
		settings: func(t *testing.T) []string {
			return []string{
				"DATABASE_URL=" + postgrestest.PgvectorDatabaseURL(t), "HIPPOCAMPUS_VECTORS=pgvector",
				"HIPPOCAMPUS_RECALL_COMPARE_LIMIT=0", "HIPPOCAMPUS_RECALL_OWN_WINDOW=0s",
			}
		},
		backup:  dump,
		restore: restoreDump,
	},
}

func dump(s *server, file string) {
	database := s.setting("DATABASE_URL")
	s.execute(postgrestest.Program(s.t, database, "pg_dump"), "--format=custom", "--file="+file, database)
}

func restoreDump(s *server, file string) {
	database := s.setting("DATABASE_URL")
	restore := postgrestest.Program(s.t, database, "pg_restore")
	s.execute(restore, "--no-owner", "--exit-on-error", "--dbname="+database, file)
}

// execute runs a program in the server's folder.
func (s *server) execute(name string, args ...string) {
	s.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// A backup is made while turns come in, and restored into empty stores. The restored server has the memories with their
// history, the same answers and equal stores, and every turn that was acknowledged before the backup began.
func TestBackup_RestoresAnEqualServer(t *testing.T) {
	t.Parallel()
	for _, size := range backedUpSizes {
		t.Run(size.name, func(t *testing.T) {
			t.Parallel()
			models := llmtest.New(t)
			settings := append(withModels(models), "HIPPOCAMPUS_REFLECTION_IMPORTANCE=100")
			s := start(t, slices.Concat(size.settings(t), settings)...)
			s.remember(models)
			file := filepath.Join(t.TempDir(), "backup")
			acknowledged := s.backUpDuringTurns(func() { size.backup(s, file) })
			exported := s.exportOf(t, "ada")
			s.stop()

			restored := prepare(t, slices.Concat(size.settings(t), settings)...)
			size.restore(restored, file)
			restored.run()
			restored.ready()
			if again := restored.exportOf(t, "ada"); again != exported {
				t.Errorf("the exports differ:\n%s\n%s", exported, again)
			}
			for i := range acknowledged {
				path := fmt.Sprintf("/v1/turns/during-%d", i)
				eventually(t, "the turn being processed", func() string {
					if r := restored.call("GET", path, nil, 200); r.body["status"] != "processed" {
						return r.raw
					}
					return ""
				})
			}
			restored.settle()
			s.run() // for answers to compare with
			s.ready()
			s.settle()
			s.answersAlike(restored)
			s.recallsAlike(restored)
		})
	}
}

// settle waits until each write has its vector, and checks that the stores are equal.
func (s *server) settle() {
	s.t.Helper()
	eventually(s.t, "the vectors being pushed", func() string {
		state := s.call("GET", "/v1/admin/state", nil, 200)
		if backlog := state.body["projection"].(map[string]any); backlog["pending"] != 0.0 || backlog["removing"] != 0.0 {
			return state.raw
		}
		return ""
	})
	s.command("verify")
}

// backUpDuringTurns reports turns of grace until the backup is made, and returns how many of them, which are named
// during-0 and so on, were acknowledged before it began.
func (s *server) backUpDuringTurns(backup func()) (before int) {
	s.t.Helper()
	var acknowledged atomic.Int64
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				ended <- nil
				return
			default:
			}
			r, err := s.try("POST", "/v1/turns", object{
				"user_id": "grace", "id": fmt.Sprint("during-", i),
				"messages": []object{{"role": "user", "content": fmt.Sprint("My locker has the number ", i, ".")}},
			})
			if err != nil || r.status >= 300 {
				ended <- fmt.Errorf("turn %d: %s %w", i, r.raw, err)
				return
			}
			acknowledged.Add(1)
		}
	}()
	const enough = 20
	eventually(s.t, "turns being acknowledged", func() string {
		if n := acknowledged.Load(); n < enough && len(ended) == 0 {
			return fmt.Sprint(n)
		}
		return ""
	})
	before = int(acknowledged.Load())
	backup()
	close(stop)
	if err := <-ended; err != nil {
		s.t.Fatal(err)
	}
	return before
}

// exportOf returns the export of a user without its head, which has the time.
func (s *server) exportOf(t *testing.T, user string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "export")
	if out, err := s.carry(adminKey, "export", file, "--user", user, "--embeddings"); err != nil {
		t.Fatalf("export: %s %v", out, err)
	}
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		t.Fatalf("the export is empty: %v", err)
	}
	return exportedBody(t, file)
}

// recallsAlike compares what two servers recall.
func (s *server) recallsAlike(other *server) {
	s.t.Helper()
	at := now().Add(24 * time.Hour).Format(time.RFC3339)
	for _, query := range []string{"Where does Ada live?", "Which sports does Ada do?", "bees", "绿茶"} {
		for _, user := range []string{"ada", "用户/1"} {
			body := object{"user_id": user, "query": query, "limit": 20, "touch": false, "at": at, "route": false}
			one, two := s.call("POST", "/v1/recall", body, 200), other.call("POST", "/v1/recall", body, 200)
			a, b := fmt.Sprint(one.list("memories")), fmt.Sprint(two.list("memories"))
			if a != b || strings.Contains(two.raw, `"degraded":["`) {
				s.t.Errorf("%s, %s: the recalls differ:\n%s\n%s", user, query, one.raw, two.raw)
			}
			if user == "ada" && len(one.list("memories")) == 0 {
				s.t.Errorf("%q recalls nothing", query)
			}
		}
	}
}
