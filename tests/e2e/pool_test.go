package e2e

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// team is a server with memories of the three users of the two weeks and their agents.
type team struct {
	*server
	ids map[string]string // by content
}

// Statements of the two weeks.
const (
	night  = "Maya works night shifts as a nurse in Lisbon"
	deploy = "The team deploys the payment service with make release"
	peanut = "林晓对花生严重过敏"
)

// assemble starts a server and writes what each of the three has said.
func assemble(t *testing.T, env ...string) *team {
	t.Helper()
	s := &team{start(t, env...), map[string]string{}}
	for _, m := range []object{
		{"user_id": "maya", "content": night},
		{"user_id": "maya", "content": "Maya has been a vegetarian since she was twelve"},
		{"user_id": "xuhang", "agent_id": "forge", "content": deploy},
		{"user_id": "linxiao", "agent_id": "aria", "content": peanut},
		{"user_id": "linxiao", "content": "林晓在杭州教小学语文"},
	} {
		s.ids[m["content"].(string)] = s.call("POST", "/v1/memories", m, 201).body["id"].(string)
	}
	return s
}

// share promotes a memory and returns the id of its copy.
func (s *team) share(user, content string, statuses ...int) string {
	s.t.Helper()
	id, _ := s.call("POST", "/v1/pool", object{"user_id": user, "memory_id": s.ids[content]},
		append(statuses, 201)...).body["id"].(string)
	return id
}

// ask recalls with the pool, as "contributor/agent: content", best first.
func (s *server) ask(user, query string, also ...string) (found []string) {
	s.t.Helper()
	asks := object{"user_id": user, "query": query, "scope": "app", "route": false}
	for _, agent := range also {
		asks["agent_id"] = agent
	}
	for _, m := range s.call("POST", "/v1/recall", asks, 200).list("memories") {
		whose := ""
		if p, shared := m["pool"].(map[string]any); shared {
			whose = fmt.Sprint(p["user_id"], "/", p["agent_id"], ": ")
		}
		found = append(found, whose+m["content"].(string))
	}
	return found
}

// wantAgreement waits until the vector store has the memories of users and the pool that are active, and no others.
func (s *server) wantAgreement(users ...string) {
	s.t.Helper()
	eventually(s.t, "the stores agreeing", func() string {
		var want, got []string
		for _, user := range users {
			want = append(want, s.activeIDs(user, func(object) bool { return true })...)
		}
		for _, m := range s.call("GET", "/v1/pool?limit=500", nil, 200).list("memories") {
			want = append(want, m["id"].(string))
		}
		for _, r := range s.records(builtin) {
			got = append(got, r.ID)
		}
		slices.Sort(want)
		slices.Sort(got)
		if report := s.job("/v1/admin/verify"); !slices.Equal(want, got) || drift(report) != 0 {
			return fmt.Sprintf("the database has %v, the vector store %v: %v", want, got, report)
		}
		return ""
	})
}

// Two users share memories of theirs and of their agents, a third one finds them and sees whose they are, and nothing
// of it exists without the scope.
func TestPool_SharesWhatWasPromoted(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := assemble(t, size.settings(t)...)
		release, shift := s.share("xuhang", deploy), s.share("maya", night)
		if again := s.share("maya", night, 200); again != shift {
			t.Errorf("the same memory again is %s, not %s", again, shift)
		}
		if got := s.ask("linxiao", "How is the payment service deployed?"); got[0] != "xuhang/forge: "+deploy {
			t.Errorf("recalled %q", got)
		}
		if got := s.ask("linxiao", "林晓对什么过敏？"); got[0] != peanut {
			t.Errorf("of the own and the shared, recalled %q", got)
		}
		if got := s.ask("maya", "Who works night shifts?"); slices.Contains(got, "maya/<nil>: "+night) ||
			!slices.Contains(got, night) {
			t.Errorf("the contributor recalls %q", got)
		}
		if got := s.recalled("linxiao", "How is the payment service deployed?"); strings.Contains(got, "deploy") {
			t.Errorf("without the scope, recalled %q", got)
		}
		asks := object{
			"user_id": "linxiao", "query": "How is the payment service deployed?", "scope": "app", "limit": 1, "explain": true,
			"route": false,
		}
		explained := s.call("POST", "/v1/recall", asks, 200)
		e := explained.body["explanation"].(map[string]any)
		var others []string
		for _, l := range listOf(e["left_out"]) {
			m := l["memory"].(map[string]any)
			whose, _ := m["pool"].(map[string]any)
			others = append(others, fmt.Sprint(l["reason"], " ", whose["user_id"], ": ", m["content"]))
		}
		if first := explained.list("memories")[0]; first["pool"] == nil || first["score_parts"] == nil ||
			e["memories"] != 4.0 || !slices.Contains(others, "limit maya: "+night) ||
			!slices.Contains(others, "limit <nil>: "+peanut) {
			t.Errorf("left out %q: %s", others, explained.raw)
		}
		asks = object{
			"user_id": "linxiao", "query": "How is the payment service deployed?", "scope": "app", "language": "en",
		}
		if text := s.call("POST", "/v1/context", asks, 200).body["text"].(string); !strings.Contains(
			text, "- "+deploy+" (shared by xuhang/forge)\n") {
			t.Errorf("the context:\n%s", text)
		}
		asks["language"] = "zh"
		if text := s.call("POST", "/v1/context", asks, 200).raw; !strings.Contains(text, "（xuhang/forge 分享）") {
			t.Errorf("the context:\n%s", text)
		}
		first := s.call("GET", "/v1/pool?limit=1", nil, 200)
		rest := s.call("GET", "/v1/pool?cursor="+url.QueryEscape(first.body["next_cursor"].(string)), nil, 200)
		if a, b := first.list("memories"), rest.list("memories"); len(a) != 1 || len(b) != 1 || a[0]["id"] != shift ||
			b[0]["id"] != release || a[0]["pool"].(map[string]any)["memory_id"] != s.ids[night] {
			t.Errorf("the pool: %s, then %s", first.raw, rest.raw)
		}
		if r := s.call("GET", "/v1/pool?contributor=xuhang", nil, 200); len(r.list("memories")) != 1 {
			t.Errorf("of xuhang: %s", r.raw)
		}
		for user, want := range map[string]int{"maya": 1, "xuhang": 0} {
			r := s.call("GET", "/v1/pool?memory_id="+s.ids[night]+"&contributor="+user, nil, 200)
			if found := r.list("memories"); len(found) != want || want > 0 && found[0]["id"] != shift {
				t.Errorf("the copy of a memory of %s: %s", user, r.raw)
			}
		}
		s.call("GET", "/v1/pool?memory_id="+s.ids[night], nil, 400)
		s.call("GET", "/v1/pool?contributor=maya&memory_id=night", nil, 400)

		s.call("DELETE", "/v1/pool/"+release, nil, 200)
		s.call("DELETE", "/v1/pool/"+release, nil, 404)
		if got := s.ask("linxiao", "How is the payment service deployed?"); slices.Contains(got, "xuhang/forge: "+deploy) {
			t.Errorf("withdrawn, and recalled %q", got)
		}
		if got := s.recalled("xuhang", "How is the payment service deployed?"); got != "" && !strings.Contains(got, deploy) {
			t.Errorf("the contributor has lost it: %q", got)
		}
		forAgent := object{"user_id": "xuhang", "memory_id": s.ids[deploy], "agent_id": "aria"}
		if again := s.call("POST", "/v1/pool", forAgent, 201); again.body["id"] == release {
			t.Errorf("promoted after a withdrawal: %s", again.raw)
		}
		for agent, wants := range map[string]bool{"aria": true, "forge": false} {
			got := s.ask("linxiao", "How is the payment service deployed?", agent)
			if slices.Contains(got, "xuhang/forge: "+deploy) != wants {
				t.Errorf("with the agent %s, recalled %q", agent, got)
			}
		}
		s.wantAgreement("maya", "xuhang", "linxiao")
	})
}

// The original decides: forgotten, the copy does not answer, restored it does; corrected, the copy stays as it was.
func TestPool_FollowsTheOriginalOnlyWhenItIsForgotten(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := assemble(t, size.settings(t)...)
		s.share("xuhang", deploy)
		const query = "How is the payment service deployed?"
		answers := func() bool { return slices.Contains(s.ask("linxiao", query), "xuhang/forge: "+deploy) }
		s.call("PATCH", "/v1/memories/"+s.ids[deploy], object{"content": "The payment service is deployed by Jenkins"}, 200)
		if !answers() {
			t.Error("corrected, it does not answer")
		}
		explained := func() bool {
			r := s.call("POST", "/v1/recall", object{
				"user_id": "linxiao", "query": query, "scope": "app", "route": false, "explain": true, "min_confidence": 1,
			}, 200)
			return strings.Contains(r.raw, deploy)
		}
		if !explained() {
			t.Error("the explanation does not have it")
		}
		s.call("DELETE", "/v1/memories/"+s.ids[deploy], nil, 200)
		if explained() {
			t.Error("forgotten, the explanation has it")
		}
		if r := s.call("GET", "/v1/pool", nil, 200); answers() || len(r.list("memories")) != 0 {
			t.Errorf("forgotten, it answers: %s", r.raw)
		}
		s.call("POST", "/v1/memories/"+s.ids[deploy]+"/restore", nil, 200)
		if !answers() {
			t.Error("restored, it does not answer")
		}
	})
}

// What may not be shared is refused, and so is the pool as a user, by every door.
func TestPool_RefusesWhatDoesNotBelongThere(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := assemble(t, append(size.settings(t), "HIPPOCAMPUS_SECRETS_KEEP=true")...)
		promote := func(user, id string, status int, says string) {
			t.Helper()
			r := s.call("POST", "/v1/pool", object{"user_id": user, "memory_id": id}, status)
			if !strings.Contains(r.raw, says) {
				t.Errorf("the refusal does not say %q: %s", says, r.raw)
			}
		}
		promote("linxiao", s.ids[night], 404, "linxiao")
		secret := s.call("POST", "/v1/memories", object{"user_id": "maya", "content": "My password is Otter-8812-blue"}, 201)
		promote("maya", secret.body["id"].(string), 400, "secret")
		s.call("PUT", "/v1/policy", object{"never": object{"terms": []string{"vegetarian"}}}, 200)
		promote("maya", s.ids["Maya has been a vegetarian since she was twelve"], 409, "never")
		s.call("DELETE", "/v1/memories/"+s.ids[night], nil, 200)
		promote("maya", s.ids[night], 409, "forgotten")

		copied := s.share("xuhang", deploy)
		pool := "hippocampus:pool"
		for _, c := range []struct {
			method, path string
			body         any
		}{
			{"POST", "/v1/turns", turn(pool, "I like tea.")},
			{"POST", "/v1/memories", object{"user_id": pool, "content": "Likes tea."}},
			{"GET", "/v1/memories?user_id=" + pool, nil},
			{"POST", "/v1/recall", object{"user_id": pool, "query": "tea"}},
			{"POST", "/v1/context", object{"user_id": pool, "query": "tea"}},
			{"POST", "/v1/pool", object{"user_id": pool, "memory_id": copied}},
			{"GET", "/v1/export?user_id=" + pool, nil},
			{"POST", "/v1/reflect", object{"user_id": pool, "force": true}},
			{"POST", "/v1/forget", object{"user_id": pool}},
			{"PUT", "/v1/facts", object{"user_id": pool, "type": "profile", "key": "k", "value": "v"}},
			{"GET", "/v1/users/" + pool, nil}, {"DELETE", "/v1/users/" + pool, nil},
			{"GET", "/v1/users/" + pool + "/episodes", nil},
			{"POST", "/v1/users/maya/merge", object{"into": pool}},
			{"POST", "/v1/users/maya/rename", object{"to": pool}},
			{"POST", "/v1/users/maya/clone", object{"into": pool}},
			{"POST", "/v1/admin/keys", object{"role": "read", "user_id": pool}},
		} {
			if r := s.call(c.method, c.path, c.body, 400); !strings.Contains(r.raw, "reserved") && !strings.Contains(
				r.raw, "/merge") && !strings.Contains(r.raw, "/rename") && !strings.Contains(r.raw, "/clone") {
				t.Errorf("%s %s: %s", c.method, c.path, r.raw)
			}
		}
		for _, c := range []struct {
			method, path string
			body         any
		}{
			{"GET", "", nil}, {"PATCH", "", object{"content": "Nobody deploys."}}, {"DELETE", "", nil},
			{"GET", "/related", nil}, {"GET", "/retention", nil}, {"POST", "/undo", nil},
		} {
			s.call(c.method, "/v1/memories/"+copied+c.path, c.body, 404)
		}
		if got := s.ask("linxiao", "How is the payment service deployed?"); got[0] != "xuhang/forge: "+deploy {
			t.Errorf("afterwards, recalled %q", got)
		}
		if users := s.call("GET", "/v1/users", nil, 200); strings.Contains(users.raw, pool) || len(users.list("users")) != 3 {
			t.Errorf("the users: %s", users.raw)
		}
		if stats := s.call("GET", "/v1/stats", nil, 200); !strings.Contains(stats.raw, `"users":3`) {
			t.Errorf("the stats: %s", stats.raw)
		}
	})
}
