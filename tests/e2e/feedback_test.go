package e2e

import (
	"encoding/json"
	"testing"
)

// feedback gives feedback on a recall and requires one of the statuses.
func (s *server) feedback(recall any, body object, statuses ...int) reply {
	s.t.Helper()
	return s.call("POST", "/v1/recalls/"+recall.(string)+"/feedback", body, statuses...)
}

// counted is the feedback on a memory, as JSON.
func (s *server) counted(id string) string {
	s.t.Helper()
	counts, _ := json.Marshal(s.call("GET", "/v1/memories/"+id, nil, 200).body["feedback"])
	return string(counts)
}

// Feedback works with the settings of a new server: it is given by the id of an answer, and outlasts a restart. It goes
// with the user through a clone, an export, a merge and an erasure.
func TestFeedback_OfAContextGoesWithItsUser(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		const used = `{"irrelevant":0,"used":1,"wrong":0}`
		s := start(t, size.settings(t)...)
		var ids []string
		for _, content := range []string{"Ada is allergic to peanuts.", "Ada drinks green tea at work."} {
			w := s.call("POST", "/v1/memories", object{"user_id": "ada", "content": content, "importance": 0.9}, 201)
			ids = append(ids, w.body["id"].(string))
		}
		made := s.call("POST", "/v1/context", object{"user_id": "ada", "query": "Is Ada allergic to peanuts?"}, 200)
		recall := made.body["recall_id"]
		s.feedback(recall, object{"user_id": "ada", "used": ids[:1], "irrelevant": ids[1:]}, 200)
		s.feedback(recall, object{"user_id": "ada", "used": ids[:1]}, 200)
		s.feedback(recall, object{"user_id": "ada", "wrong": ids[1:]}, 200)
		s.feedback(recall, object{"user_id": "bob", "wrong": ids[1:]}, 404)
		s.feedback(recall, object{"user_id": "ada", "withdrawn": ids[:1]}, 200)
		s.call("PUT", "/v1/memories/"+ids[0]+"/feedback", object{"feedback": "irrelevant"}, 200)
		s.call("POST", "/mem0/v1/feedback/", object{"memory_id": ids[0], "feedback": "POSITIVE"}, 200)
		s.feedback(ids[0], object{"user_id": "ada", "wrong": ids[1:]}, 404)
		s.feedback(recall, object{"user_id": "ada", "unheard": ids[1:]}, 400)
		s.kill()
		s.run()
		s.ready()
		if got := s.counted(ids[0]); got != used {
			t.Errorf("counted %s, want %s", got, used)
		}
		if got := s.counted(ids[1]); got != `{"irrelevant":0,"used":0,"wrong":1}` {
			t.Errorf("counted %s", got)
		}
		stats := s.call("GET", "/v1/stats", nil, 200).body["feedback"].(map[string]any)
		if stats["used"] != 1.0 || stats["wrong"] != 1.0 || stats["used_share"] != 0.5 {
			t.Errorf("stats: %v", stats)
		}

		s.call("POST", "/v1/users/ada/clone", object{"into": "twin"}, 200)
		for _, m := range s.call("GET", "/v1/memories?user_id=twin", nil, 200).list("memories") {
			if got := s.counted(m["id"].(string)); m["content"] == "Ada is allergic to peanuts." && got != used {
				t.Errorf("counted of the clone: %s", got)
			}
		}
		exported := s.call("GET", "/v1/export?user_id=ada", nil, 200).raw
		s.call("POST", "/v1/users/ada/merge", object{"into": "lovelace"}, 200, 202)
		eventually(t, "the merge", func() string {
			if r := s.call("GET", "/v1/memories/"+ids[0], nil, 200); r.body["user_id"] != "lovelace" {
				return r.raw
			}
			return ""
		})
		if got := s.counted(ids[0]); got != used {
			t.Errorf("counted after the merge: %s", got)
		}
		s.feedback(recall, object{"user_id": "lovelace", "used": ids[:1]}, 404)
		s.erase("lovelace")
		s.feedback(recall, object{"user_id": "ada", "used": ids[:1]}, 404)
		s.erase("twin")
		stats = s.call("GET", "/v1/stats", nil, 200).body["feedback"].(map[string]any)
		if stats["used"] != 0.0 || stats["wrong"] != 0.0 {
			t.Errorf("stats after the erasures: %v", stats)
		}
		other := start(t, size.settings(t)...)
		for _, imported := range []float64{2, 0} {
			r := other.call("POST", "/v1/import", exported, 200)
			others := r.body["others"].(map[string]any)["feedback"].(map[string]any)
			if others["imported"] != imported || others["skipped"] != 2-imported || r.body["failed"] != 0.0 {
				t.Errorf("import: %s", r.raw)
			}
		}
		if got := other.counted(ids[0]); got != used {
			t.Errorf("counted after an import: %s", got)
		}
	})
}
