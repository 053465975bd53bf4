package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/llm/llmtest"
)

// oneStore is the size with memories and vectors in one database.
func oneStore() size { return sizes[2] }

// With memories and vectors in one database a write is in the vector store when it
// is answered, even after kill -9: recall finds it there without reading own writes,
// and the outbox stays empty.
func TestPgvector_MemoryAndVectorAreOneWrite(t *testing.T) {
	t.Parallel()
	s := start(t, append(oneStore().settings(t), "HIPPOCAMPUS_RECALL_OWN_WINDOW=0s")...)
	eventually(t, "a banner that names the vector store", func() string {
		if banner := s.printed(); !strings.Contains(banner, "pgvector in the same database") {
			return banner
		}
		return ""
	})
	synced := func(n int) {
		t.Helper()
		r := s.call("GET", "/v1/stats", nil, 200)
		vectors, _ := r.body["vectors"].(map[string]any)
		if len(vectors) != 1 || vectors["synced"] != float64(n) {
			t.Errorf("%v of %d memories: %s", vectors, n, r.raw)
		}
	}
	const times = 60
	for i := range times {
		content := fmt.Sprintf("codeword number%d belongs to box%d", i, i*31)
		id := s.call("POST", "/v1/memories", object{"user_id": "ada", "content": content}, 201).body["id"]
		r := s.call("POST", "/v1/recall", object{"user_id": "ada", "query": content, "limit": 1, "route": false}, 200)
		found := r.list("memories")
		if len(found) != 1 || found[0]["id"] != id || len(r.body["degraded"].([]any)) > 0 {
			t.Fatalf("write %d: %s", i, r.raw)
		}
		if sources := found[0]["sources"].([]any); !slices.Contains(sources, any("vector")) ||
			slices.Contains(sources, any("own_write")) {
			t.Errorf("write %d was found by %v", i, sources)
		}
	}
	synced(times)
	s.kill()
	s.run()
	synced(times)
	first := s.active("ada")[0]
	s.call("PATCH", "/v1/memories/"+first, object{"content": "another codeword"}, 200)
	synced(times)
	s.call("DELETE", "/v1/memories/"+first, nil, 200)
	if n := len(s.records(builtin)); n != times-1 {
		t.Errorf("the vector store shows %d records when a delete is answered, want %d", n, times-1)
	}
}

// Two servers on one Postgres without the extension share its vectors: each finds by
// embedding what the other has just written, and neither keeps a file.
func TestPostgresAlone_ServersShareVectors(t *testing.T) {
	t.Parallel()
	models := llmtest.New(t)
	settings := append(withModels(models), "DATABASE_URL="+postgrestest.URL(t), "HIPPOCAMPUS_RECALL_OWN_WINDOW=0s")
	first, second := start(t, settings...), start(t, settings...)
	eventually(t, "a banner that names the vector store", func() string {
		if banner := first.printed(); !strings.Contains(banner, "this server compares all vectors of a user") ||
			!strings.Contains(banner, "CREATE EXTENSION vector") {
			return banner
		}
		return ""
	})
	for i := range 20 {
		writer, reader := first, second
		if i%2 == 1 {
			writer, reader = second, first
		}
		// The question and the memory share no word.
		content, question := fmt.Sprintf("Ada met keeper number%d", i), fmt.Sprintf("who tends beacon%d", i)
		meaning := make([]float32, llmtest.Dim)
		meaning[i] = 1
		models.Embedding(content, meaning)
		models.Embedding(question, meaning)
		id := writer.call("POST", "/v1/memories", object{"user_id": "ada", "content": content}, 201).body["id"]
		r := reader.call("POST", "/v1/recall", object{"user_id": "ada", "query": question, "limit": 1, "route": false}, 200)
		found := r.list("memories")
		if len(found) != 1 || found[0]["id"] != id || len(r.body["degraded"].([]any)) > 0 ||
			!slices.Contains(found[0]["sources"].([]any), any("vector")) {
			t.Fatalf("write %d: %s", i, r.raw)
		}
	}
	for _, s := range []*server{first, second} {
		if files, err := filepath.Glob(filepath.Join(s.dir, "data", "*")); err != nil || len(files) > 0 {
			t.Errorf("files of one server: %v, %v", files, err)
		}
	}
}

// The table of vectors is dropped while the server runs: writes succeed, recall still
// finds by embedding what it found before, and the server fills a new table by itself.
func TestPgvector_SurvivesDroppedTable(t *testing.T) {
	t.Parallel()
	s := withKeeper(t, 300, oneStore().settings(t)...)
	w := s.watchKeeper()
	w.soon(t, 10)
	for i := range 2 {
		store, err := s.openVectors(t.Context(), scripted)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.(interface{ Drop(context.Context) error }).Drop(t.Context()); err != nil {
			t.Fatal(err)
		}
		for j := range 10 {
			s.call("POST", "/v1/memories",
				object{"user_id": "ada", "content": fmt.Sprintf("written meanwhile, number %d of %d", j, i)}, 201)
		}
		eventually(t, "the stores being equal", func() string {
			r := s.job("/v1/admin/verify")
			if drift(r) == 0 && r["checked"].(float64) > 300 && r["in_flight"] == 0.0 {
				return ""
			}
			return fmt.Sprint(r)
		})
		s.storesEqual(scripted, "ada")
		s.whole()
	}
	w.stop()
	if w.degraded == w.answers {
		t.Errorf("all of %d recalls named the vector store as degraded", w.answers)
	}
}
