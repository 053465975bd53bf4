package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// The log of a conversation names its participants to each of them. A user who has another conversation with the same
// id does not see them.
func TestPeople_LogNamesTheParticipants(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		s.spoken()
		said := turn("u-dora", "I live in Porto.")
		said["conversation_id"] = "trip"
		s.call("POST", "/v1/turns", said, 200)
		const all = "Ana:u-ana Ben:u-ben Cleo:u-cleo"
		for path, want := range map[string]string{
			"trip?user_id=u-ana": all, "trip?user_id=u-ben&limit=1": all, "trip?user_id=u-dora": "", "private?user_id=u-ana": "",
		} {
			var got []string
			for _, p := range s.call("GET", "/v1/conversations/"+path, nil, 200).list("participants") {
				got = append(got, fmt.Sprint(p["name"], ":", p["user_id"]))
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s: %q, want %q", path, got, want)
			}
		}
	})
}

// A user takes part however many others do, in the log and in a recall of the group.
func TestPeople_ManyTakePart(t *testing.T) {
	s := start(t)
	for group := range 5 {
		people := object{}
		for n := range 20 {
			people[fmt.Sprintf("Guest %02d", 20*group+n)] = fmt.Sprintf("u-%02d", 20*group+n)
		}
		speaker := fmt.Sprintf("u-%02d", 20*group+19)
		s.call("POST", "/v1/turns", object{
			"user_id": speaker, "conversation_id": "hall", "participants": people, "wait": true,
			"messages": []object{{"role": "user", "content": "I am allergic to peanuts, and so is " + speaker + "."}},
		}, 200)
	}
	for user, want := range map[string]string{"u-05": "u-00", "u-99": "u-99"} {
		listed := s.call("GET", "/v1/conversations/hall?user_id="+user, nil, 200).list("participants")
		if len(listed) != 80 || listed[0]["user_id"] != want {
			t.Errorf("the log of %s has %d participants: %v", user, len(listed), listed)
		}
	}
	found := s.call("POST", "/v1/recall", peanuts("u-99", "hall"), 200)
	if got := members(found, "participants"); !strings.HasPrefix(got, "Guest 99:u-99:<nil> Guest 00:u-00:<nil>") {
		t.Errorf("the members: %s", got)
	}
	if !strings.Contains(strings.Join(contents(found.list("memories")), "\n"), "so is u-99.") {
		t.Errorf("what the last user said to the group is not recalled: %s", found.raw)
	}
}
