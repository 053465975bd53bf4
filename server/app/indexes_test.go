package app

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"hippocampus/db/sqlite"
	"hippocampus/internal/memory"
)

// A first recall after the start need not read all documents of a user of whom many were written, although
// no client has recalled yet.
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
	s.stop()
	expectIndexes(t, cfg.Data, map[string]bool{"ada": true, "bob": false})

	cfg.Data = t.TempDir()
	s = start(t, cfg)
	res, err := s.client.Post(s.url+"/v1/import", "application/x-ndjson", strings.NewReader(export))
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("%+v, %v", res, err)
	}
	res.Body.Close()
	s.stop()
	expectIndexes(t, cfg.Data, map[string]bool{"ada": true})
}

// expectIndexes checks whether the index of each user is stored in a data folder.
func expectIndexes(t *testing.T, folder string, want map[string]bool) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(folder, databaseFile)})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for user, stored := range want {
		revision, _, err := store.Index(t.Context(), memory.Owner{AppID: DefaultApp, UserID: user})
		if err != nil || (revision > 0) != stored {
			t.Errorf("%s: an index at revision %d, %v", user, revision, err)
		}
	}
}
