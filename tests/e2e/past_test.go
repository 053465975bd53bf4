package e2e

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
)

// Memories have tags and related memories, their number is bounded, and their past can be read.
func TestPast_IsReadable(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, append(size.settings(t), "HIPPOCAMPUS_MEMORIES_MAX_PER_USER=50")...)
		write := func(content string, more object) string {
			body := object{"user_id": "ada", "content": content}
			for name, value := range more {
				body[name] = value
			}
			return s.call("POST", "/v1/memories", body, 201).body["id"].(string)
		}
		list := func(query string) []string {
			return contents(s.call("GET", "/v1/memories?user_id=ada&"+query, nil, 200).list("memories"))
		}
		const dated = "2026-01-01T00:00:00Z" // equal times, so that ids decide the order
		tea := write("Ada drinks green tea",
			object{"tags": []string{"drink", "茶"}, "conversation_id": "c", "at": dated, "pinned": true})
		pot := write("Ada owns a tea pot",
			object{"tags": []string{"drink"}, "conversation_id": "c", "at": dated, "pinned": true})
		private := write("Ada tells her doctor about tea",
			object{"agent_id": "doctor", "tags": []string{"drink"}, "at": dated, "pinned": true})
		between := s.call("GET", "/v1/memories/"+private+"/history", nil, 200).list("events")[0]["at"].(string)
		then := list("")

		s.call("PATCH", "/v1/memories/"+tea, object{"content": "Ada drinks black tea", "tags": []string{"drink"}}, 200)
		s.call("DELETE", "/v1/memories/"+pot, nil, 200)
		write("Ada gave up coffee", object{"tags": []string{"茶"}, "at": dated})
		s.kill()
		s.run()
		asOf := "as_of=" + url.QueryEscape(between)
		if got := list(asOf); !slices.Equal(got, then) || len(got) != 3 {
			t.Errorf("as of %s: %q, and it was %q", between, got, then)
		}
		if got := list(asOf + "&tag=" + url.QueryEscape("茶")); !slices.Equal(got, []string{"Ada drinks green tea"}) {
			t.Errorf("tagged then: %q", got)
		}
		if got := list("tag=drink"); !slices.Equal(got, []string{"Ada tells her doctor about tea", "Ada drinks black tea"}) {
			t.Errorf("tagged now: %q", got)
		}
		if was := s.call("GET", "/v1/memories/"+pot+"?"+asOf, nil, 200).body; was["status"] != "active" {
			t.Errorf("%v", was)
		}
		found := contents(s.call("POST", "/v1/recall",
			object{"user_id": "ada", "query": "tea", "tags": []string{"drink"}, "route": false, "agent_id": "cook"},
			200).list("memories"))
		if !slices.Equal(found, []string{"Ada drinks black tea"}) {
			t.Errorf("recalled %q", found)
		}

		s.call("POST", "/v1/memories/"+pot+"/restore", nil, 200)
		s.call("POST", "/v1/memories/"+tea+"/relations", object{"to": private, "kind": "supports"}, 201)
		s.call("POST", "/v1/memories/"+tea+"/relations", object{"to": private, "kind": "supports"}, 200)
		related := s.call("GET", "/v1/memories/"+tea+"/related", nil, 200).list("memories")
		if len(related) < 2 || related[0]["memory"].(map[string]any)["id"] != private ||
			related[1]["memory"].(map[string]any)["id"] != pot {
			t.Errorf("related: %v", related)
		}
		for _, r := range s.call("GET", "/v1/memories/"+tea+"/related?agent_id=cook", nil, 200).list("memories") {
			if r["memory"].(map[string]any)["id"] == private {
				t.Error("an agent sees another one's memory")
			}
		}

		s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "hardly worth it", "importance": 0.29}, 400)
		least := write("Ada once had a cold", object{"importance": 0.3})
		var batch []object
		for i := range 60 {
			batch = append(batch, object{"user_id": "ada", "content": fmt.Sprintf("Ada counted to %d", i), "importance": 0.5})
		}
		batch[7]["importance"] = 0.1
		results := s.call("POST", "/v1/memories/batch", object{"memories": batch}, 200).list("results")
		if results[7]["error"] == nil || results[8]["id"] == nil {
			t.Errorf("%v, %v", results[7], results[8])
		}
		if got := list("limit=500"); len(got) != 50 || !slices.Contains(got, "Ada owns a tea pot") {
			t.Errorf("%d are active: %q", len(got), got)
		}
		gone := s.call("GET", "/v1/memories/"+least+"/history", nil, 200).list("events")
		if last := gone[len(gone)-1]; last["kind"] != "forgotten" || last["cause"] != "bound" {
			t.Errorf("the least important: %v", gone)
		}
	})
}
