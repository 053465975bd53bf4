package app

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hippocampus/db/sqlite"
	"hippocampus/internal/memory"
)

// If a user has many new memories, the first recall after the start need not read all their documents, although no
// client has recalled yet.
func TestRun_StoresTheIndexesOfUsersWhoHaveGrown(t *testing.T) {
	cfg := devConfig(t)
	s := start(t, cfg)
	for user, n := range map[string]int{"ada": 1000, "bob": 500} {
		memories := make([]map[string]any, n)
		for i := range memories {
			memories[i] = map[string]any{"user_id": user, "content": fmt.Sprintf("Keeps bees in hive %d.", i)}
		}
		body, err := json.Marshal(map[string]any{"memories": memories})
		if err != nil {
			t.Fatal(err)
		}
		s.post("/v1/memories/batch", string(body))
	}
	export := s.get("/v1/export?user_id=ada")
	waitForIndex(s, cfg.Data, "ada")
	s.stop()
	if storedIndex(t, cfg.Data, "bob") {
		t.Error("the index of bob, who has few memories, is stored")
	}

	cfg.Data = t.TempDir()
	s = start(t, cfg)
	res, err := s.client.Post(s.url+"/v1/import", "application/x-ndjson", strings.NewReader(export))
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("%+v, %v", res, err)
	}
	res.Body.Close()
	waitForIndex(s, cfg.Data, "ada")
	s.post("/v1/users/ada/merge", `{"into": "cleo"}`)
	waitForIndex(s, cfg.Data, "cleo")
	s.stop()
}

// waitForIndex waits until the server has stored the index of a user in its data folder.
func waitForIndex(s *instance, folder, user string) {
	s.t.Helper()
	for deadline := time.Now().Add(longTime); !storedIndex(s.t, folder, user); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("the index of %s is not stored:\n%s", user, s.log.String())
		}
	}
}

// storedIndex reports whether the index of a user is stored in a data folder.
func storedIndex(t *testing.T, folder, user string) bool {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(folder, databaseFile)})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	revision, _, err := store.Index(t.Context(), memory.Owner{AppID: DefaultApp, UserID: user})
	if err != nil {
		t.Fatal(err)
	}
	return revision > 0
}
