package e2e

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"hippocampus/internal/llm/llmtest"
)

// proposals lists the proposed insights about a user, by their contents.
func (s *server) proposals(user string) (contents, ids []string) {
	s.t.Helper()
	for _, p := range s.call("GET", "/v1/proposals?user_id="+url.QueryEscape(user), nil, 200).list("proposals") {
		contents, ids = append(contents, p["content"].(string)), append(ids, p["id"].(string))
	}
	return contents, ids
}

// proposing starts a server whose reflections propose, and has it propose an insight about ada.
func proposing(t *testing.T, size size) *server {
	t.Helper()
	models := llmtest.New(t)
	models.OnPrompt("hippocampus/reflect", func(llmtest.ChatRequest) llmtest.Reply {
		return llmtest.Text(`{"insights":[{"insight":"Ada trains for a triathlon.","sources":[1,2,3]}],"retire":[1,2,3]}`)
	})
	s := start(t, append(append(size.settings(t), withModels(models)...),
		"HIPPOCAMPUS_REFLECTION_IMPORTANCE=100", "HIPPOCAMPUS_REFLECTION_APPLY=propose")...)
	for _, sport := range []string{"swims 3 km", "rides her bicycle for hours", "runs at dawn"} {
		s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Every week Ada " + sport, "importance": 0.9},
			201)
	}
	return s
}

// Where reflection.apply is propose, an insight answers nothing before its approval. Proposals outlast a
// restart, fall with a fact that is forgotten, move with a merge, and are erased with their user.
func TestProposals_WaitForApproval(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		const insight = "Ada trains for a triathlon."
		s := proposing(t, size)
		before := s.active("ada")
		reflect := func() {
			t.Helper()
			r := s.call("POST", "/v1/reflect", object{"user_id": "ada", "force": true}, 200)
			if len(r.list("insights")) > 0 || len(r.list("proposed")) != 1 || !slices.Equal(s.active("ada"), before) {
				t.Fatalf("a proposing reflection: %s", r.raw)
			}
		}
		reflect()
		s.kill()
		s.run()
		s.ready()
		page := s.call("GET", "/v1/proposals?limit=1", nil, 200)
		if list := page.list("proposals"); len(list) != 1 || list[0]["user_id"] != "ada" ||
			strings.Count(page.raw, `"retires":true`) != 3 || !strings.Contains(page.raw, "runs at dawn") {
			t.Fatalf("proposals: %s", page.raw)
		}
		if found := s.recalled("ada", "triathlon"); strings.Contains(found, insight) {
			t.Errorf("a proposal answers: %s", found)
		}

		_, ids := s.proposals("ada")
		fact := s.call("GET", "/v1/memories?user_id=ada", nil, 200).list("memories")[0]["id"].(string)
		s.call("DELETE", "/v1/memories/"+fact, nil, 200)
		if left, _ := s.proposals("ada"); len(left) > 0 {
			t.Errorf("%v rests on a forgotten fact", left)
		}
		s.call("POST", "/v1/proposals/"+ids[0]+"/approve", nil, 404)
		s.call("POST", "/v1/memories/"+fact+"/restore", nil, 200)
		s.call("PUT", "/v1/users/ada", object{"memory": "off"}, 200)
		s.call("POST", "/v1/proposals/"+ids[0]+"/approve", nil, 409)
		s.call("PUT", "/v1/users/ada", object{"memory": "on"}, 200)

		approved := s.call("POST", "/v1/proposals/"+ids[0]+"/approve", nil, 200)
		stored := approved.body["memory"].(map[string]any)
		if now := s.active("ada"); !slices.Equal(now, []string{stored["id"].(string)}) || stored["content"] != insight ||
			len(approved.body["retired"].([]any)) != 3 {
			t.Errorf("active %v after %s", now, approved.raw)
		}
		s.storesEqual(scripted, "ada")
		s.call("POST", "/v1/memories/"+stored["id"].(string)+"/undo", nil, 200)
		if now := s.active("ada"); !slices.Equal(now, before) {
			t.Errorf("after the undo %v, before %v", now, before)
		}
		for _, id := range []string{ids[0], fact, "no id", strings.Repeat("x", 256), "%00", "../x"} {
			for _, what := range []string{"approve", "reject"} {
				s.call("POST", "/v1/proposals/"+url.PathEscape(id)+"/"+what, nil, 404, 400)
			}
		}

		// The restored facts do not count again before they change.
		for _, m := range s.call("GET", "/v1/memories?user_id=ada", nil, 200).list("memories") {
			s.call("PATCH", "/v1/memories/"+m["id"].(string), object{"importance": 0.95}, 200)
		}
		reflect()
		s.call("POST", "/v1/users/ada/merge", object{"into": "ada lovelace"}, 200, 202)
		eventually(t, "the merge", func() string {
			if moved, _ := s.proposals("ada lovelace"); !slices.Equal(moved, []string{insight}) {
				return strings.Join(moved, ", ")
			}
			return ""
		})
		s.erase("ada lovelace")
		if left, _ := s.proposals("ada lovelace"); len(left) > 0 {
			t.Errorf("%v is left of an erased user", left)
		}
		if rows := s.rowsNaming("triathlon"); len(rows) > 0 {
			t.Errorf("rows of an erased user: %v", rows)
		}
	})
}
