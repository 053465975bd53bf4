package e2e

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// Imported old chats are compared with what is known, by the times of both: the later statement is current, whether the
// file or the server has it.
func TestFormer_HoldsForImportedChats(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		sh := s.shell(t)
		for user, c := range map[string]struct {
			days    int // after what was said before
			current string
		}{"older": {-30, "Groningen"}, "newer": {+30, "Utrecht"}} {
			said := turn(user, "I live in Groningen now.")
			at := now().AddDate(0, 0, -60)
			said["at"] = at.Format(time.RFC3339)
			s.call("POST", "/v1/turns", said, 200)
			line := oldTurn("old", at.AddDate(0, 0, c.days), "I live in Utrecht now.")
			if err := os.WriteFile(filepath.Join(sh.dir, user+".ndjson"), []byte(line+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			sh.want(0, "hippocampus import --from turns "+user+".ndjson --user "+user)
			eventually(t, "the imported chat to be compared", func() string {
				all := s.call("GET", "/v1/memories?status=superseded&user_id="+user, nil, 200)
				if len(all.list("memories")) != 1 {
					return all.raw
				}
				return ""
			})
			got := s.recalled(user, "Where do I live?")
			if former := map[string]string{"Groningen": "Utrecht", "Utrecht": "Groningen"}[c.current]; strings.Contains(
				got, former) || !strings.Contains(got, c.current) {
				t.Errorf("%s: the user lives in %s, and %q is recalled", user, c.current, got)
			}
		}
	})
}

// Memories of an imported export keep their statuses, and are not compared with what is known.
func TestFormer_AnImportedExportIsNotCompared(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		s.call("POST", "/v1/turns", turn("ada", "I live in Groningen now."), 200)
		fact := s.call("GET", "/v1/memories/"+s.idOf("ada", "fact: I live in Groningen"), nil, 200).body
		for city, status := range map[string]string{"Utrecht": "active", "Lisbon": "forgotten"} {
			m := maps.Clone(fact)
			m["id"], m["status"], m["content"] = uuid.Must(uuid.NewV7()).String(), status, "I live in "+city+"."
			m["created_at"] = "2020-01-01T10:00:00Z"
			for _, field := range []string{"source_turn_id", "sources", "relations", "history"} {
				delete(m, field)
			}
			s.call("POST", "/v1/import", exported(t, object{"memory": m, "events": []object{}, "relations": []object{}}), 200)
		}
		var homes []string
		for _, status := range []string{"active", "superseded", "forgotten"} {
			for _, m := range s.call("GET", "/v1/memories?status="+status+"&user_id=ada", nil, 200).list("memories") {
				if m["type"] == "fact" {
					homes = append(homes, status+": "+m["content"].(string))
				}
			}
		}
		slices.Sort(homes)
		want := []string{"active: I live in Groningen now.", "active: I live in Utrecht.", "forgotten: I live in Lisbon."}
		if !slices.Equal(homes, want) {
			t.Errorf("after the import: %q, want %q", homes, want)
		}
	})
}
