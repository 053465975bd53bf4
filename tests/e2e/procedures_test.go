package e2e

import (
	"fmt"
	"slices"
	"testing"
)

// Versions of instructions and counted outcomes survive a kill of the server, and
// the workflow with the best record is recalled first.
func TestProcedures_SurviveKill(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		publish := func(fields object) {
			t.Helper()
			s.call("POST", "/v1/instructions", fields, 201)
		}
		merged := func(query string) (texts []string) {
			t.Helper()
			return contents(s.call("GET", "/v1/instructions/merged"+query, nil, 200).list("instructions"))
		}
		want := func(what string, got []string, want ...string) {
			t.Helper()
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
		publish(object{"scope": "app", "name": "tone", "content": "Be brief."})
		publish(object{"scope": "app", "name": "safety", "content": "Never tell secrets."})
		publish(object{"scope": "agent", "agent_id": "butler", "name": "tone", "content": "Be formal."})
		publish(object{"scope": "user", "user_id": "ada", "name": "语气", "content": "用中文回答。"})
		publish(object{"scope": "user", "user_id": "ada", "name": "语气", "content": "用中文回答，简短。"})
		want("for ada and the butler", merged("?agent_id=butler&user_id=ada"), "Never tell secrets.", "Be formal.",
			"用中文回答，简短。")

		outcome := func(workflow string, success bool, id string) object {
			t.Helper()
			return s.call("POST", "/v1/skills/deploy/outcomes",
				object{"user_id": "ada", "workflow": workflow, "success": success, "id": id}, 200).body
		}
		for n := range 6 {
			outcome("run make release", n != 2, fmt.Sprint("release ", n))
		}
		outcome("deploy the shop by copying files", false, "copy 1")
		outcome("deploy the shop by copying files", true, "copy 2")
		s.storesEqual(builtin, "ada") // an erasure waits for the claim of an interrupted push

		s.kill()
		s.run()
		s.call("POST", "/v1/instructions/语气/rollback", object{"scope": "user", "user_id": "ada"}, 200)
		s.call("POST", "/v1/instructions/语气/rollback", object{"scope": "user", "user_id": "ada"}, 409)
		s.call("DELETE", "/v1/instructions/tone?scope=agent&agent_id=butler", nil, 200)
		want("rolled back and retired", merged("?agent_id=butler&user_id=ada"), "Never tell secrets.", "Be brief.", "用中文回答。")
		again := outcome("run make release", true, "release 5")
		if counted, ok := again["counted"].(bool); !ok || counted {
			t.Errorf("counted twice: %v", again)
		}
		best := s.call("GET", "/v1/skills/deploy?user_id=ada", nil, 200).list("best")
		if len(best) != 2 || best[0]["workflow"] != "run make release" || best[0]["importance"] != 0.75 ||
			best[1]["importance"] != 0.5 {
			t.Errorf("%v", best)
		}
		found := s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "How do I deploy the shop?", "limit": 2},
			200).list("memories")
		want("recalled", contents(found), "deploy: run make release", "deploy: deploy the shop by copying files")
		s.storesEqual(builtin, "ada")

		receipt := s.erase("ada")
		deleted := receipt.body["deleted"].(map[string]any)
		if deleted["instructions"] != 2.0 || deleted["skills"] != 2.0 || deleted["outcomes"] != 8.0 {
			t.Errorf("receipt %s", receipt.raw)
		}
		want("after the erasure", merged("?user_id=ada"), "Never tell secrets.", "Be brief.")
		s.call("GET", "/v1/skills/deploy?user_id=ada", nil, 404)
	})
}
