package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

var threePeople = object{"Ana": "u-ana", "Ben": "u-ben", "Cleo": "u-cleo"}

// words is a message of a person with a name, or of the assistant without one.
func words(name, content string) object {
	if name == "" {
		return object{"role": "assistant", "content": content}
	}
	return object{"role": "user", "name": name, "content": content}
}

// among is a turn of three people in the conversation "trip", at a minute of a day.
func among(minute int, lines ...object) object {
	return object{
		"user_id": "u-ana", "conversation_id": "trip", "participants": threePeople, "wait": true, "messages": lines,
		"at": fmt.Sprintf("2026-01-05T10:%02d:00Z", minute),
	}
}

// saidOf lists a user's memories of a type, as "said_by: content", sorted.
func (s *server) saidOf(user, query string) (list []string) {
	s.t.Helper()
	for _, m := range s.call("GET", "/v1/memories?limit=100&user_id="+user+query, nil, 200).list("memories") {
		who, _ := m["said_by"].(string)
		list = append(list, who+": "+m["content"].(string))
	}
	slices.Sort(list)
	return list
}

func (s *server) wantSaid(user, query string, want ...string) {
	s.t.Helper()
	if got := s.saidOf(user, query); !slices.Equal(got, want) {
		s.t.Errorf("%s of %s:\n%q, want\n%q", query, user, got, want)
	}
}

// copies maps the names of participants to the ids of their copies of a turn.
func copies(r reply) map[string]string {
	ids := map[string]string{}
	for _, p := range r.list("participants") {
		ids[p["name"].(string)] = p["turn_id"].(string)
	}
	return ids
}

const facts = "&type=fact&status=active"

// What a person says belongs to that person. What a person says of another one is a memory of that one too,
// and names the speaker; it does not replace what the other has said, and is replaced by it.
func TestPeople_StatementsBelongToTheirSpeakers(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		s.call("POST", "/v1/turns", among(1,
			words("Ana", "I live in Lisbon. Ben is allergic to peanuts."),
			words("Ben", "I work as a nurse. Ana, I moved to Leeds last week."),
			words("", "Noted. Does anyone have a pet?"),
			words("Cleo", "I have a dog named Rex. Ana is allergic to cats. She is a doctor."),
		), 200)
		s.wantSaid("u-ana", facts, ": Ben is allergic to peanuts.", ": I live in Lisbon.",
			"Cleo: Ana is allergic to cats.")
		s.wantSaid("u-ben", facts, ": Ana, I moved to Leeds last week.", ": I work as a nurse.",
			"Ana: Ben is allergic to peanuts.")
		s.wantSaid("u-cleo", facts, ": Ana is allergic to cats.", ": I have a dog named Rex.")
		s.wantSaid("u-ana", "&type=message", "Cleo: Ana is allergic to cats. She is a doctor.",
			"assistant: Noted. Does anyone have a pet?", "user: I live in Lisbon. Ben is allergic to peanuts.")
		s.wantSaid("u-ben", "&type=message", "Ana: Ben is allergic to peanuts.",
			"assistant: Noted. Does anyone have a pet?", "user: I work as a nurse. Ana, I moved to Leeds last week.")
		said := s.call("GET", "/v1/memories?user_id=u-ben&type=fact", nil, 200).list("memories")
		i := slices.IndexFunc(said, func(m object) bool { return m["said_by"] == "Ana" })
		if of, _ := said[i]["metadata"].(map[string]any); of["said_of"] != "Ben" {
			t.Errorf("what Ana said of Ben: %v", said[i])
		}
		if found := s.recalled("u-ana", "Where does Ben live?"); strings.Contains(found, "Leeds") {
			t.Errorf("Ana's store has what Ben said of himself: %s", found)
		}

		s.call("POST", "/v1/turns", among(2, words("Ben", "I am not allergic to peanuts.")), 200)
		s.wantSaid("u-ben", "&type=fact&status=superseded", "Ana: Ben is allergic to peanuts.")
		s.call("POST", "/v1/turns", among(3, words("Ana", "Ben is allergic to peanuts, I am sure.")), 200)
		if now := s.saidOf("u-ben", facts); !slices.Contains(now, ": I am not allergic to peanuts.") {
			t.Errorf("what Ana said has replaced what Ben said: %q", now)
		}
		log := s.call("GET", "/v1/conversations/trip?user_id=u-ben", nil, 200).raw
		for _, words := range []string{"I live in Lisbon", "I work as a nurse", "named Rex", `"name":"Cleo"`} {
			if !strings.Contains(log, words) {
				t.Errorf("the log of Ben lacks %s: %s", words, log)
			}
		}
		s.storesEqual(builtin, "u-ana", "u-ben", "u-cleo")
	})
}

func TestPeople_SpeakChinese(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		group := object{"安娜": "u-ana", "小本": "u-ben"}
		say := func(day int, lines ...object) reply {
			return s.call("POST", "/v1/turns", object{
				"user_id": "u-ana", "conversation_id": "旅行", "participants": group, "wait": true, "messages": lines,
				"at": fmt.Sprintf("2026-01-%02dT10:00:00Z", day),
			}, 200)
		}
		say(1, words("安娜", "我住在上海。小本对花生过敏。"), words("小本", "我是护士。安娜喜欢爬山。"))
		s.wantSaid("u-ben", "&type=message", "user: 我是护士。安娜喜欢爬山。", "安娜: 小本对花生过敏。")
		s.wantSaid("u-ana", "&type=message", "user: 我住在上海。小本对花生过敏。", "小本: 安娜喜欢爬山。")
		say(2, words("小本", "我对花生不过敏。"))
		found := s.call("POST", "/v1/recall", object{
			"user_id": "u-ben", "conversation_id": "旅行", "group": true, "query": "谁对花生过敏？", "limit": 2,
		}, 200).list("memories")
		if !slices.ContainsFunc(found, func(m object) bool {
			return m["said_by"] == "小本" && m["user_id"] == "u-ben" && m["content"] == "我对花生不过敏。"
		}) {
			t.Errorf("谁对花生过敏: %v", found)
		}
	})
}

// The same turn again is the same for everybody, with and without an id. A turn that is taken back or replaced is so
// for everybody, and a copy alone by its own id.
func TestPeople_TurnsAreRepeatedAndTakenBackTogether(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		first := among(1, words("Ana", "I live in Lisbon."), words("Ben", "I work as a nurse."))
		first["id"] = "turn-1"
		ids := copies(s.call("POST", "/v1/turns", first, 200))
		if len(ids) != 3 {
			t.Fatalf("the copies: %v", ids)
		}
		again := s.call("POST", "/v1/turns", first, 200)
		if got := copies(again); again.body["repeated"] != true || fmt.Sprint(got) != fmt.Sprint(ids) {
			t.Errorf("again with an id: %s", again.raw)
		}
		delete(first, "id")
		again = s.call("POST", "/v1/turns", first, 200)
		if got := copies(again); again.body["repeated"] != true || fmt.Sprint(got) != fmt.Sprint(ids) {
			t.Errorf("again without an id: %s", again.raw)
		}
		first["id"], first["participants"] = "turn-1", object{"Ana": "u-ana", "Ben": "u-other"}
		s.call("POST", "/v1/turns", first, 409)
		if stored := s.call("GET", "/v1/turns?user_id=u-other", nil, 200); len(stored.list("turns")) > 0 {
			t.Errorf("a conflict has stored a copy: %s", stored.raw)
		}

		second := among(2, words("Ben", "I moved to Leeds last week."), words("Cleo", "I keep bees."))
		second["id"] = "turn-2"
		s.call("POST", "/v1/turns", second, 200)
		edited := among(2, words("Ben", "I moved to York last week."))
		edited["id"], edited["replaces"], edited["participants"] = "turn-3", "turn-2", object{"Ana": "u-ana", "Ben": "u-ben"}
		for range 2 {
			s.call("POST", "/v1/turns", edited, 200)
			s.wantSaid("u-ben", facts, ": I moved to York last week.", ": I work as a nurse.")
			s.wantSaid("u-cleo", facts)
		}

		s.call("DELETE", "/v1/turns/"+ids["Ben"], nil, 200)
		s.wantSaid("u-ben", facts, ": I moved to York last week.")
		s.wantSaid("u-ana", facts, ": I live in Lisbon.")
		if done := s.call("DELETE", "/v1/turns/turn-3", nil, 200); !strings.Contains(done.raw, `"effects":[{`) {
			t.Errorf("the effects on Ben's memories: %s", done.raw)
		}
		s.wantSaid("u-ben", facts)
		s.call("DELETE", "/v1/turns/turn-1", nil, 200)
		s.wantSaid("u-ana", "&status=active")
		if log := s.call("GET", "/v1/conversations/trip?user_id=u-cleo", nil, 200).raw; strings.Contains(log, "nurse") {
			t.Errorf("Cleo's log after the turn was taken back: %s", log)
		}
	})
}
