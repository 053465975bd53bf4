package e2e

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// oldChats returns 200 turns within the year before an instant, each with the times of its messages in a zone, and the
// places that they name by the month of the visit.
func oldChats(end time.Time, zone *time.Location) (lines []string, places map[time.Month]string) {
	names := strings.Fields("Bergen Cusco Dakar Esfahan Florence Granada Hanoi Izmir Jaipur Kyoto Lagos Merida")
	places = map[time.Month]string{}
	const step = 365 * 24 * time.Hour / 200
	for i := range 200 {
		at := end.Add(-time.Duration(200-i) * step).In(zone)
		said := fmt.Sprintf("I practised scale number %d on the cello for half an hour.", i)
		if month := at.Month(); places[month] == "" && at.Day() > 8 && at.Day() < 20 && len(places) < len(names) {
			places[month] = names[len(places)]
			said = "I visited " + places[month] + " with my sister."
		}
		lines = append(lines, oldTurn(fmt.Sprint("chat-", at.Format(time.DateOnly)), at, said))
	}
	return lines, places
}

// oldTurn is a turn of an old chat, whose answer is a few seconds later.
func oldTurn(conversation string, at time.Time, said string) string {
	raw, err := json.Marshal(object{"conversation_id": conversation, "messages": []object{
		{"role": "user", "content": said, "at": at.Format(time.RFC3339)},
		{"role": "assistant", "content": "How was it?", "at": at.Add(7 * time.Second).Format(time.RFC3339)},
	}})
	if err != nil {
		panic(err) // strings can always be encoded
	}
	return string(raw)
}

// A user brings a year of old chats: each turn is there once, is found by its time, has the day of the user's zone, and
// begins to fade at the import.
func TestImport_BringsAYearOfOldChats(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", -8*3600)
	lines, places := oldChats(now(), zone)
	evening := time.Date(now().Year(), 1, 31, 22, 30, 0, 0, zone)
	if evening.After(now().AddDate(0, 0, -2)) {
		evening = evening.AddDate(-1, 0, 0)
	}
	lines = append(lines, oldTurn("quilt", evening, "I finished the blue quilt tonight."))
	s := start(t)
	sh := s.shell(t)
	file := strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(sh.dir, "chats.ndjson"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	const command = "hippocampus import --from turns chats.ndjson"
	if out := sh.want(0, command); out != "imported 201 turns, skipped 0 that were there already\n" {
		t.Error(out)
	}
	eventually(t, "all turns to be processed", func() string {
		r := s.call("GET", "/v1/stats", nil, 200)
		if turns, _ := r.body["turns"].(map[string]any); turns["processed"] != 201.0 {
			return r.raw
		}
		return ""
	})
	before := s.activeIDs("ada", func(object) bool { return true })
	if out := sh.want(0, command); out != "imported 0 turns, skipped 201 that were there already\n" {
		t.Error(out)
	}
	if after := s.activeIDs("ada", func(object) bool { return true }); len(after) != len(before) || len(after) < 201 {
		t.Errorf("%d memories, and %d after the second import", len(before), len(after))
	}

	at := now().In(zone)
	for _, back := range []int{3, 6, 9} {
		month := time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, zone).AddDate(0, -back, 0).Month()
		r := s.call("POST", "/v1/recall", object{
			"user_id": "ada", "query": fmt.Sprintf("Which place did I visit last %s?", month), "touch": false,
		}, 200)
		if first := contents(r.list("memories")); len(first) == 0 || !strings.Contains(first[0], places[month]) {
			t.Errorf("last %s: %q, want %s first: %v", month, first, places[month], r.body["when"])
		}
	}
	made := s.call("POST", "/v1/context", object{"user_id": "ada", "query": "When did I finish the blue quilt?"}, 200)
	if text, _ := made.body["text"].(string); !strings.Contains(text, evening.Format(time.DateOnly)+":\n") {
		t.Errorf("what was said at %v has another day: %s", evening, text)
	}
	night := s.call("POST", "/v1/forget", object{"user_id": "ada", "at": now().AddDate(0, 0, 1).Format(time.RFC3339)}, 200)
	if night.body["due"] != 0.0 {
		t.Errorf("of what was imported some is due on the first night: %s", night.raw)
	}
}

// A user brings the zip of another program, and a month later a newer one, in which the last answer has arrived and the
// chat goes on.
func TestImport_BringsAnotherProgramsChats(t *testing.T) {
	const first = `{"uuid": "m1", "sender": "human", "text": "I adopted a cat called Mochi.",
		"created_at": "2026-01-31T22:30:00Z"}`
	const later = first + `,
		{"uuid": "m2", "sender": "assistant", "text": "A lovely name!", "created_at": "2026-01-31T22:30:09Z"},
		{"uuid": "m3", "sender": "human", "text": "I sold the cello to my neighbour.", "created_at": "2026-02-20T08:00:00Z"}`
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		sh := s.shell(t)
		for _, export := range []struct{ name, messages, want string }{
			{"january.zip", first, "imported 1 turns, skipped 0 that were there already\n"},
			{"february.zip", later, "imported 2 turns, skipped 0 that were there already\n"},
			{"february.zip", later, "imported 0 turns, skipped 2 that were there already\n"},
		} {
			file, err := os.Create(filepath.Join(sh.dir, export.name))
			if err != nil {
				t.Fatal(err)
			}
			archive := zip.NewWriter(file)
			entry, err := archive.Create("conversations.json")
			if err == nil {
				_, err = fmt.Fprintf(entry, `[{"uuid": "c1", "name": "", "chat_messages": [%s]}]`, export.messages)
			}
			if err := errors.Join(err, archive.Close(), file.Close()); err != nil {
				t.Fatal(err)
			}
			if out := sh.want(0, "hippocampus import --from claude --user ada "+export.name); out != export.want {
				t.Error(out)
			}
		}
		eventually(t, "what was said being kept once", func() string {
			r := s.call("GET", "/v1/memories?user_id=ada&type=message", nil, 200)
			said := contents(r.list("memories"))
			slices.Sort(said)
			if strings.Join(said, "|") != "A lovely name!|I adopted a cat called Mochi.|I sold the cello to my neighbour." {
				return r.raw
			}
			return ""
		})
		r := s.call("GET", "/v1/conversations/c1?user_id=ada", nil, 200)
		if c, _ := r.body["conversation"].(map[string]any); c["events"] != 3.0 || c["turns"] != 3.0 {
			t.Errorf("the conversation has not each message once: %s", r.raw)
		}
		sh.want(2, "hippocampus import --from claude -")
		sh.want(1, "hippocampus import --from chatgpt --user ada february.zip")
	})
}
