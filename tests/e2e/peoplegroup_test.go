package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// peanuts is a group's recall by one of its members.
func peanuts(user, conversation string) object {
	return object{
		"user_id": user, "conversation_id": conversation, "group": true, "query": "Who is allergic to peanuts?",
		"route": false,
	}
}

// spoken is a conversation of three people, in which each of them has also talked to the assistant alone.
func (s *server) spoken() {
	s.t.Helper()
	alone := func(user, conversation, content string) {
		said := turn(user, content)
		said["conversation_id"] = conversation
		s.call("POST", "/v1/turns", said, 200)
	}
	alone("u-ana", "private", "I am allergic to peanuts and pregnant.")
	s.call("POST", "/v1/turns", among(1,
		words("Ana", "I live in Lisbon. Ben is allergic to peanuts."),
		words("", "Shall we book a table without peanuts?"),
		words("Cleo", "I am vegetarian."),
	), 200)
	alone("u-ana", "trip", "I am allergic to peanuts and in debt.")
	s.call("POST", "/v1/turns", among(2, words("Ben", "I am not allergic to peanuts.")), 200)
}

// members lists names from a part of the answer for a group, as "name: reason".
func members(r reply, part string) string {
	var list []string
	for _, m := range r.body["group"].(map[string]any)[part].([]any) {
		m := m.(map[string]any)
		list = append(list, fmt.Sprint(m["name"], ":", m["user_id"], ":", m["reason"]))
	}
	return strings.Join(list, " ")
}

// A group recalls what its members have said to each other, with the names, and nothing that one of them said alone,
// neither elsewhere nor in the same conversation.
func TestPeople_GroupRecallsWhatWasSaidToIt(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		s.spoken()
		found := s.call("POST", "/v1/recall", peanuts("u-cleo", "trip"), 200)
		var said []string
		for _, m := range found.list("memories") {
			said = append(said, fmt.Sprint(m["user_id"], " ", m["said_by"], ": ", m["content"]))
		}
		if len(said) < 2 || !slices.Contains(said[:2], "u-ben Ben: I am not allergic to peanuts.") ||
			!slices.Contains(said[:2], "u-ana Ana: I live in Lisbon. Ben is allergic to peanuts.") {
			t.Errorf("recalled %q", said)
		}
		if n := strings.Count(strings.Join(said, "\n"), "Shall we book"); n != 1 {
			t.Errorf("the assistant's words are there %d times: %q", n, said)
		}
		if got := members(found, "participants"); got != "Ana:u-ana:<nil> Ben:u-ben:<nil> Cleo:u-cleo:<nil>" {
			t.Errorf("the members: %s", got)
		}
		asks := peanuts("u-cleo", "trip")
		asks["working_memory"] = false
		delete(asks, "route")
		context := s.call("POST", "/v1/context", asks, 200)
		for _, line := range []string{
			"Ben: I am not allergic to peanuts.", "Ana: I live in Lisbon. Ben is allergic to peanuts.",
		} {
			if text := context.body["text"].(string); !strings.Contains(text, line) {
				t.Errorf("the context lacks %q:\n%s", line, text)
			}
		}
		s.call("PUT", "/v1/facts", object{"user_id": "u-ana", "type": "profile", "key": "diet", "value": "secretive"}, 200)
		for _, user := range []string{"u-ana", "u-ben", "u-cleo"} {
			for path, asks := range map[string]object{
				"/v1/recall": peanuts(user, "trip"), "/v1/context": {
					"user_id": user, "conversation_id": "trip", "group": true, "query": "What is Ana's diet?",
					"working_memory": false,
				},
			} {
				r := s.call("POST", path, asks, 200)
				for _, private := range []string{"pregnant", "debt", "secretive"} {
					if strings.Contains(r.raw, private) {
						t.Errorf("%s for %s has what Ana said alone: %s", path, user, r.raw)
					}
				}
			}
		}
		touched := s.call("GET", "/v1/memories?user_id=u-ben&type=message", nil, 200).list("memories")
		for _, m := range touched {
			if m["access_count"] != 0.0 {
				t.Errorf("a group's recall counts an access: %v", m)
			}
		}
		s.call("POST", "/v1/recall", peanuts("u-dora", "trip"), 404)
		s.call("POST", "/v1/recall", peanuts("u-ana", "private"), 404)
		s.call("POST", "/v1/recall", object{"user_id": "u-ana", "group": true, "query": "x"}, 400)
	})
}

// A key of one user names no other participant, reads nothing of theirs, and takes back nothing of theirs. Another app
// has another conversation.
func TestPeople_KeysAndAppsAreSeparate(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		s.spoken()
		whole := s.key
		first := among(3, words("Ana", "I keep bees."), words("Ben", "I keep goats."))
		first["id"] = "turn-3"
		ids := copies(s.call("POST", "/v1/turns", first, 200))

		s.key = s.createKey("--role", "write", "--user", "u-ana")
		refused := s.call("POST", "/v1/turns", among(4, words("Ben", "I am a thief.")), 403)
		if !strings.Contains(refused.raw, "u-ana") || !strings.Contains(refused.raw, `participants[\"Ben\"]`) {
			t.Errorf("the refusal: %s", refused.raw)
		}
		found := s.call("POST", "/v1/recall", peanuts("u-ana", "trip"), 200)
		if got := members(found, "left_out"); got != "Ben:u-ben:key Cleo:u-cleo:key" {
			t.Errorf("left out: %s", got)
		}
		for _, m := range found.list("memories") {
			if m["user_id"] != "u-ana" {
				t.Errorf("a key of Ana reads %v", m)
			}
		}
		s.call("POST", "/v1/recall", peanuts("u-ben", "trip"), 403)
		s.call("GET", "/v1/turns/"+ids["Ben"], nil, 404)
		s.call("DELETE", "/v1/turns/"+ids["Ben"], nil, 404)
		s.call("DELETE", "/v1/turns/turn-3", nil, 200)
		s.key = whole
		s.wantSaid("u-ben", "&type=message&status=active", "Ana: Ben is allergic to peanuts.",
			"assistant: Shall we book a table without peanuts?", "user: I am not allergic to peanuts.", "user: I keep goats.")
		if left := s.saidOf("u-ana", "&type=message"); slices.Contains(left, "user: I keep bees.") {
			t.Errorf("Ana's own words are left: %q", left)
		}

		s.key = s.createKey("--app", "other", "--role", "admin")
		s.call("POST", "/v1/recall", peanuts("u-ana", "trip"), 404)
		s.call("POST", "/v1/turns", among(1, words("Cleo", "I collect stamps.")), 200)
		other := s.call("POST", "/v1/recall", peanuts("u-ana", "trip"), 200)
		if strings.Contains(other.raw, "peanuts") || !strings.Contains(other.raw, "stamps") {
			t.Errorf("another app recalls %s", other.raw)
		}
		s.key = whole
		if r := s.call("POST", "/v1/recall", peanuts("u-ana", "trip"), 200); strings.Contains(r.raw, "stamps") {
			t.Errorf("the app recalls another's: %s", r.raw)
		}
	})
}

// Nothing is kept of a participant for whom memory is off, in any user's store. What an erased participant has said is
// in no copy, and what the others have said stays.
func TestPeople_LeaveTogetherWithTheirWords(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		s.spoken()
		s.call("PUT", "/v1/users/u-cleo", object{"memory": "off"}, 200)
		r := s.call("POST", "/v1/turns", among(3,
			words("Cleo", "Ben is allergic to shellfish. I play the harp."), words("Ben", "I play chess."),
		), 200)
		again := among(3, words("Cleo", "Ben is allergic to shellfish. I play the harp."), words("Ben", "I play chess."))
		delete(again, "wait")
		repeated := s.call("POST", "/v1/turns", again, 200).list("participants")[2]
		if repeated["status"] != "processed" || repeated["repeated"] != true || repeated["memory"] != "off" {
			t.Errorf("Cleo's copy, sent again: %v", repeated)
		}
		p := r.list("participants")[2]
		if left := fmt.Sprint(p["left_out"]); p["memory"] != "off" || !strings.Contains(left, "memory_off") ||
			!strings.Contains(left, "level:user") {
			t.Errorf("what is left out of Cleo: %v", p)
		}
		for _, user := range []string{"u-ana", "u-ben"} {
			log := s.call("GET", "/v1/conversations/trip?user_id="+user, nil, 200).raw
			if strings.Contains(log, "harp") || !strings.Contains(log, "[memory off]") || !strings.Contains(log, "chess") {
				t.Errorf("the log of %s: %s", user, log)
			}
		}
		if said := s.saidOf("u-ben", ""); strings.Contains(fmt.Sprint(said), "shellfish") {
			t.Errorf("said of Ben: %q", said)
		}
		r = s.call("POST", "/v1/recall", peanuts("u-ben", "trip"), 200)
		if left := members(r, "left_out"); left != "Cleo:u-cleo:memory_off" {
			t.Errorf("left out: %s", left)
		}

		s.erase("u-ana")
		for _, user := range []string{"u-ben", "u-cleo"} {
			log := s.call("GET", "/v1/conversations/trip?user_id="+user, nil, 200).raw
			if strings.Contains(log, "Lisbon") || strings.Contains(log, "Ana") || !strings.Contains(log, "[removed]") ||
				!strings.Contains(log, "not allergic") {
				t.Errorf("the log of %s after Ana was erased: %s", user, log)
			}
			all := s.call("GET", "/v1/export?user_id="+user, nil, 200).raw
			for _, words := range []string{"Lisbon", `"Ana"`, "Ben is allergic to peanuts"} {
				if strings.Contains(all, words) {
					t.Errorf("the export of %s has %s: %s", user, words, all)
				}
			}
		}
		s.wantSaid("u-ben", "&type=message&status=active", "assistant: Shall we book a table without peanuts?",
			"user: I am not allergic to peanuts.", "user: I play chess.")
		r = s.call("POST", "/v1/recall", peanuts("u-ben", "trip"), 200)
		if got := members(r, "participants"); got != "Ben:u-ben:<nil>" {
			t.Errorf("who is left: %s", got)
		}
		s.storesEqual(builtin, "u-ana", "u-ben", "u-cleo")
	})
}

// Copies are exported and imported, and follow a user who gets another id.
func TestPeople_FollowTheirUsers(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		s.spoken()
		file := filepath.Join(t.TempDir(), "export.jsonl")
		if out, err := s.carry(s.key, "export", file); err != nil {
			t.Fatal(err, out)
		}
		s.call("POST", "/v1/users/u-ben/rename", object{"to": "u-benjamin"}, 200)
		r := s.call("POST", "/v1/recall", peanuts("u-benjamin", "trip"), 200)
		if got := members(r, "participants"); got != "Ana:u-ana:<nil> Ben:u-benjamin:<nil> Cleo:u-cleo:<nil>" ||
			!strings.Contains(r.raw, "not allergic") {
			t.Errorf("after a rename: %s", r.raw)
		}
		restored := start(t, size.settings(t)...)
		if out, err := restored.carry(restored.key, "import", file); err != nil {
			t.Fatal(err, out)
		}
		r = restored.call("POST", "/v1/recall", peanuts("u-ben", "trip"), 200)
		if got := members(r, "participants"); got != "Ana:u-ana:<nil> Ben:u-ben:<nil> Cleo:u-cleo:<nil>" ||
			!strings.Contains(r.raw, "not allergic") || strings.Contains(r.raw, "debt") {
			t.Errorf("after an import: %s", r.raw)
		}
		restored.erase("u-ana")
		log := restored.call("GET", "/v1/conversations/trip?user_id=u-ben", nil, 200).raw
		if strings.Contains(log, "Lisbon") {
			t.Errorf("the imported log after Ana was erased: %s", log)
		}
	})
}

func TestPeople_HostileParticipantsAreRefused(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		many := object{}
		for i := range 10_000 {
			many[fmt.Sprint("name ", i)] = fmt.Sprint("user ", i)
		}
		say := func(people any, lines ...object) object {
			said := among(1, lines...)
			said["participants"] = people
			return said
		}
		hello := words("Ana", "I live in Lisbon.")
		for name, people := range map[string]any{
			"participants": many, "another spelling": object{"Ana": "u-ana", "ANA": "u-ben"},
			"the user of": object{"Ana": "u-ana", "Annie": "u-ana"}, "control": object{"Ana\u0007\n": "u-ana"},
			"empty": object{"": "u-ana"}, "NUL": object{"Ana": "u\u0000"},
			"1 to 256": object{" ": "u-ana"}, "string": object{"Ana": 7}, "object": []string{"Ana"},
		} {
			if r := s.call("POST", "/v1/turns", say(people, hello), 400); !strings.Contains(r.raw, name) {
				t.Errorf("%v: %s", name, r.raw)
			}
		}
		nameless := say(object{"Ben": "u-ben"}, object{"role": "user", "content": "I live in Lisbon."})
		if r := s.call("POST", "/v1/turns", nameless, 400); !strings.Contains(r.raw, "messages[0].name") {
			t.Errorf("a message of nobody: %s", r.raw)
		}
		lonely := say(threePeople, hello)
		delete(lonely, "conversation_id")
		s.call("POST", "/v1/turns", lonely, 400)
		tried := say(threePeople, hello)
		tried["dry_run"] = true
		delete(tried, "wait")
		s.call("POST", "/v1/turns", tried, 400)

		swapped := say(object{"u-ben": "u-ana", "u-ana": "u-ben"},
			words("u-ben", "I live in Lisbon."), words("u-ana", "I live in Leeds."))
		s.call("POST", "/v1/turns", swapped, 200)
		s.wantSaid("u-ana", facts, ": I live in Lisbon.")
		s.wantSaid("u-ben", facts, ": I live in Leeds.")

		silent := say(object{"Mia": "u-mia", "Silent": "u-silent"},
			words("Guest", "I live in Oslo. Mia is allergic to cats."),
			object{"role": "user", "content": "I live in York."})
		silent["user_id"] = "u-mia"
		s.call("POST", "/v1/turns", silent, 200)
		s.wantSaid("u-mia", facts, ": I live in York.", "Guest: Mia is allergic to cats.")
		s.wantSaid("u-silent", "&status=active")

		alone := say(object{"Ana": "u-solo"}, words("Ana", "I live in Faro."))
		alone["user_id"] = "u-solo"
		if r := s.call("POST", "/v1/turns", alone, 200); len(r.list("participants")) != 1 {
			t.Errorf("one participant: %s", r.raw)
		}
		s.wantSaid("u-solo", facts, ": I live in Faro.")
	})
}
