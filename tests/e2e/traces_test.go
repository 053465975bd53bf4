package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// traces returns the names of the files in a folder that contain one of the texts.
func traces(t *testing.T, folder string, texts ...string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, text := range texts {
			if bytes.Contains(bytes.ToLower(data), []byte(text)) {
				found = append(found, filepath.Base(path)+" has "+text)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Nothing of an erased user is left in any file of SQLite, not even in free pages or the
// write-ahead log, and other users keep what they have.
func TestErasure_LeavesNoTraceInFiles(t *testing.T) {
	t.Parallel()
	s := start(t, "HIPPOCAMPUS_RECALL_LOG=true")
	const user, word = "erasable-user-71", "quuxberry"
	s.call("POST", "/v1/turns", turn("bob", "I work as a marine biologist in Lisbon."), 200)
	s.call("POST", "/v1/turns", turn(user, "I live in Quuxberry and work as a marine biologist."), 200)
	s.call("POST", "/v1/turns", object{"user_id": user, "conversation_id": "c", "wait": true, "messages": []object{
		{"role": "user", "content": "My sister moved to Quuxberry in May."},
		{"role": "assistant", "content": strings.Repeat("Quuxberry is far away from Lisbon. ", 300)},
	}}, 200)
	for i := range 20 {
		content := "Quuxberry is near " + strings.Repeat("x", i*100+1)
		id := s.call("POST", "/v1/memories", object{"user_id": user, "content": content}, 201).body["id"].(string)
		if i%2 == 0 {
			s.call("DELETE", "/v1/memories/"+id, nil, 200)
		}
	}
	s.call("PUT", "/v1/facts", object{"user_id": user, "type": "home", "key": "city", "value": "Quuxberry"}, 200, 201)
	s.call("POST", "/v1/recall", object{"user_id": user, "query": "Where is Quuxberry?"}, 200)
	if len(traces(t, s.dir, user, word)) == 0 {
		t.Fatal("the files have no trace of the user before the erasure")
	}
	s.erase(user)
	if found := traces(t, s.dir, user, word); len(found) > 0 {
		t.Errorf("after the erasure %v", found)
	}
	if n := len(s.active("bob")); n != 1 {
		t.Errorf("another user has %d memories", n)
	}
}

// Nothing is left after many writes and deletions either, by which SQLite divides and merges pages. The users are
// erased in turn.
func TestErasure_LeavesNoTraceOfManyWrites(t *testing.T) {
	t.Parallel()
	s := start(t)
	random := rand.New(rand.NewPCG(19, 4))
	users := []string{"erasable-zelda", "erasable-quentin", "staying-bob"}
	for range 3 {
		for _, user := range users {
			memories := make([]object, 20)
			for i := range memories {
				memories[i] = object{"user_id": user, "content": fmt.Sprintf("%s keeps %d boats%s", user,
					random.IntN(1e9), strings.Repeat(" in "+user, random.IntN(40)))}
			}
			s.call("POST", "/v1/memories/batch", object{"memories": memories}, 200)
		}
		user := users[random.IntN(len(users))]
		for i, id := range s.active(user) {
			switch i % 12 {
			case 3:
				s.call("PATCH", "/v1/memories/"+id, object{"content": fmt.Sprint(user, " sold boat ", random.IntN(1e9))}, 200)
			case 5:
				s.call("DELETE", "/v1/memories/"+id, nil, 200)
			}
		}
	}
	staying := s.active(users[2])
	for _, user := range users[:2] {
		ids := s.active(user)
		if len(ids) < 20 {
			t.Fatalf("%s has only %d memories", user, len(ids))
		}
		s.erase(user)
		if found := traces(t, s.dir, append(ids, user)...); len(found) > 0 {
			t.Errorf("after the erasure of %s %v", user, found)
		}
	}
	if now := s.active(users[2]); !slices.Equal(now, staying) {
		t.Errorf("another user has %d memories, had %d", len(now), len(staying))
	}
}

// Only the owner may read the files of a database.
func TestData_IsPrivate(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Ada likes tea"}, 201)
	files, err := filepath.Glob(filepath.Join(s.dir, "data", "*"))
	if err != nil || len(files) < 4 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s has the permissions %o", filepath.Base(file), mode)
		}
	}
	if strings.Contains(s.printed(), "others may open the data folder") {
		t.Error("a private folder was reported")
	}
	s.stop()
	if err := os.Chmod(filepath.Join(s.dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.run()
	if !strings.Contains(s.printed(), "others may open the data folder") {
		t.Error("a folder that others may open was not reported")
	}
}
