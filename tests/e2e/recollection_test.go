package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const (
	boat         = "Sailed a wooden boat across lake Balaton with uncle Ferenc"
	aboutTheBoat = "Who sailed the wooden boat across Balaton?"
)

// recollecting starts a server whose rule counts all days and lets every type fade.
func recollecting(t *testing.T, size size) *server {
	t.Helper()
	return start(t, append(size.settings(t),
		"HIPPOCAMPUS_FORGETTING_CLOCK=wall", "HIPPOCAMPUS_FORGETTING_KEEP_TYPES=none")...)
}

// fade writes an old memory, which a run of the rule forgets, and other memories that stay.
func (s *server) fade(user, content string) (id string) {
	s.t.Helper()
	for _, content := range []string{"Likes green tea in the morning", "Works as a nurse", "Has two cats"} {
		s.call("POST", "/v1/memories", object{"user_id": user, "content": content}, 201)
	}
	id = s.old(user, content, 2015)
	r := s.call("POST", "/v1/forget", object{"user_id": user, "dry_run": false}, 200)
	if !slices.Contains(r.texts("forgotten"), id) {
		s.t.Fatalf("the rule forgot %s", r.raw)
	}
	return id
}

// texts returns a list of texts of an answer.
func (r reply) texts(name string) (list []string) {
	all, _ := r.body[name].([]any)
	for _, one := range all {
		list = append(list, fmt.Sprint(one))
	}
	return list
}

// recollects returns the ids of the recollected memories of a recall.
func (s *server) recollects(user string, more object) (ids []string) {
	s.t.Helper()
	body := object{"user_id": user, "query": aboutTheBoat, "route": false}
	for name, value := range more {
		body[name] = value
	}
	for _, m := range s.call("POST", "/v1/recall", body, 200).list("memories") {
		if m["recollected"] == true {
			ids = append(ids, m["id"].(string))
		}
	}
	return ids
}

// A memory that the rule has forgotten comes back when a question asks for it: it is active again, in both stores, and
// its history states why. Nothing else changes.
func TestRecollection_BringsBackWhatHasFaded(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := recollecting(t, size)
		id := s.fade("ada", boat)
		m := s.call("GET", "/v1/memories/"+id, nil, 200).body
		if m["status"] != "forgotten" || m["faded"] != true {
			t.Fatalf("faded: %v", m)
		}
		if got := s.recollects("bob", nil); got != nil {
			t.Errorf("another user recollects %s", got)
		}
		for range 2 {
			if got := s.recollects("ada", object{"touch": false}); !slices.Equal(got, []string{id}) {
				t.Errorf("without touch it recollects %s", got)
			}
		}
		if m := s.call("GET", "/v1/memories/"+id, nil, 200).body; m["status"] != "forgotten" || m["faded"] != true {
			t.Errorf("after recalls without touch: %v", m)
		}
		asked := object{"user_id": "ada", "query": aboutTheBoat, "touch": false, "route": false}
		if r := s.call("POST", "/v1/context", asked, 200); !strings.Contains(r.raw, "(recalled from long ago)") {
			t.Errorf("the context: %s", r.raw)
		}
		if got := s.recollects("ada", nil); !slices.Equal(got, []string{id}) {
			t.Errorf("it recollects %s", got)
		}
		m = s.call("GET", "/v1/memories/"+id, nil, 200).body
		if m["status"] != "active" || m["faded"] != nil {
			t.Errorf("recollected: %v", m)
		}
		history := s.call("GET", "/v1/memories/"+id+"/history", nil, 200).list("events")
		if last := history[len(history)-1]; last["kind"] != "restored" || last["cause"] != "recollected" {
			t.Errorf("its history ends with %v", last)
		}
		if got := s.recollects("ada", nil); got != nil {
			t.Errorf("the next recall recollects %s", got)
		}
		if !strings.Contains(s.recalled("ada", aboutTheBoat), boat) {
			t.Error("it is not recalled in the ordinary way")
		}
		s.storesEqual(builtin, "ada", "bob")
		metrics := s.call("GET", "/metrics", nil, 200).raw
		if !strings.Contains(metrics, "hippocampus_recollections_total 1\n") {
			t.Error("the metric does not count one recollection")
		}
		again := s.fade("bob", boat)
		asked = object{"user_id": "bob", "query": aboutTheBoat, "route": false}
		if r := s.call("POST", "/v1/context", asked, 200); !strings.Contains(r.raw, again) {
			t.Errorf("the context: %s", r.raw)
		}
		if m := s.call("GET", "/v1/memories/"+again, nil, 200).body; m["status"] != "active" {
			t.Errorf("after its use in a context: %v", m)
		}
	})
}

// A statement that a request forgets never comes back, whether it had faded before or not, and whether the request
// names it or a memory that states the same.
func TestRecollection_NeverBringsBackWhatWasToBeForgotten(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := recollecting(t, size)
		for user, forget := range map[string]func(s *server, _, id string){
			"by-id": func(s *server, _, id string) { s.call("DELETE", "/v1/memories/"+id, nil, 200) },
			"alone": func(s *server, _, id string) { s.call("DELETE", "/v1/memories/"+id+"?scope=item", nil, 200) },
			"by-ids": func(s *server, _, id string) {
				s.call("POST", "/v1/memories/forget", object{"ids": []string{id}}, 200)
			},
			"by-filter": func(s *server, user, _ string) {
				s.call("POST", "/v1/memories/forget", object{
					"user_id": user, "filter": object{"content": object{"contains": "Balaton"}},
				}, 200)
			},
			"by-what-states-the-same": func(s *server, user, _ string) {
				same := s.call("POST", "/v1/memories", object{"user_id": user, "content": boat + "."}, 201).body["id"]
				s.call("DELETE", "/v1/memories/"+same.(string), nil, 200)
			},
		} {
			id := s.fade(user, boat)
			forget(s, user, id)
			if got := s.recollects(user, nil); got != nil {
				t.Errorf("forgotten %s, it recollects %s", user, got)
			}
			m := s.call("GET", "/v1/memories/"+id, nil, 200).body
			if m["status"] != "forgotten" || m["faded"] != nil {
				t.Errorf("forgotten %s: %v", user, m)
			}
			s.call("POST", "/v1/memories/"+id+"/restore", nil, 200)
			if !strings.Contains(s.recalled(user, aboutTheBoat), boat) {
				t.Errorf("forgotten %s, the restored memory is not recalled", user)
			}
		}
	})
}
