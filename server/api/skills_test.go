package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

type outcomeAnswer struct {
	Skill    string       `json:"skill"`
	Workflow workflowBody `json:"workflow"`
	Counted  bool         `json:"counted"`
}

type skillAnswer struct {
	skillBody
	Best []workflowBody `json:"best"`
}

// outcome reports an outcome of the skill deploy.
func (f *fixture) outcome(success bool, workflow, fields string) outcomeAnswer {
	f.t.Helper()
	return fetch[outcomeAnswer](f, 200, "POST", "/v1/skills/deploy/outcomes",
		fmt.Sprintf(`{"user_id":"u","success":%t,"workflow":%q%s}`, success, workflow, fields))
}

func TestSkills_RememberWhatWorks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	failed := f.outcome(false, "copy by hand", `,"note":"forgot one"`)
	if w := failed.Workflow; !failed.Counted || failed.Skill != "deploy" || w.MemoryID != "" || w.Failures != 1 ||
		w.Importance != 0.3333 || len(w.Notes) != 1 {
		t.Errorf("%+v", failed)
	}
	worked := f.outcome(true, "push the tag", `,"at":"2026-01-30T08:00:00Z","note":"fine"`)
	if w := worked.Workflow; w.MemoryID == "" || w.Successes != 1 || w.Importance != 0.6667 ||
		!w.LastAt.Equal(noon.AddDate(0, 0, -1).Add(-4*time.Hour)) {
		t.Errorf("%+v", worked)
	}
	m := f.stored(worked.Workflow.MemoryID)
	if m.Content != "deploy: push the tag" || m.Type != memory.TypeSkill || m.Importance != 0.6667 || len(m.Tags) != 1 ||
		m.Tags[0] != "skill:deploy" || m.AgentID != "" || !m.CreatedAt.Equal(worked.Workflow.LastAt) {
		t.Errorf("%+v", m)
	}
	for range 3 {
		f.advance(time.Minute)
		worked = f.outcome(true, "push the tag", `,"id":"run `+f.now().String()+`"`)
	}
	again := f.outcome(true, "push the tag", `,"id":"run `+f.now().String()+`"`)
	if again.Counted || again.Workflow.Successes != 4 || again.Workflow.MemoryID != worked.Workflow.MemoryID ||
		again.Workflow.Importance != 0.8333 {
		t.Errorf("%+v", again)
	}
	f.want(409, "POST", "/v1/skills/deploy/outcomes",
		`{"user_id":"u","success":false,"workflow":"push the tag","id":"run `+f.now().String()+`"}`)
	if m := f.stored(worked.Workflow.MemoryID); m.Importance != 0.8333 || !m.LastAccessedAt.Equal(f.now()) {
		t.Errorf("%+v", m)
	}
	secret := f.outcome(true, "ask the butler", `,"agent_id":"butler"`)
	if m := f.stored(secret.Workflow.MemoryID); m.AgentID != "butler" {
		t.Errorf("%+v", m)
	}
	f.want(200, "POST", "/v1/skills/a%2Fb/outcomes", `{"user_id":"u","success":true,"workflow":"x"}`)

	best := fetch[skillAnswer](f, 200, "GET", "/v1/skills/deploy?user_id=u", "")
	if len(best.Best) != 3 || best.Best[0].Workflow != "push the tag" || best.Best[1].Workflow != "ask the butler" ||
		best.Best[2].MemoryID != "" ||
		best.skillBody != (skillBody{"deploy", 3, 5, 1, f.now()}) || len(best.Best[2].Notes) != 1 ||
		best.Best[2].Notes[0].Note != "forgot one" {
		t.Errorf("%+v", best)
	}
	if seen := fetch[skillAnswer](f, 200, "GET", "/v1/skills/deploy?user_id=u&agent_id=maid", ""); len(seen.Best) != 2 ||
		seen.Successes != 4 {
		t.Errorf("another agent sees %+v", seen)
	}
	f.want(404, "GET", "/v1/skills/deploy?user_id=v", "")
	type skillPage struct {
		Skills []skillBody `json:"skills"`
		Next   string      `json:"next_cursor"`
	}
	page := fetch[skillPage](f, 200, "GET", "/v1/skills?user_id=u&limit=1", "")
	rest := fetch[skillPage](f, 200, "GET", "/v1/skills?user_id=u&limit=2&cursor="+page.Next, "")
	all := slices.Concat(page.Skills, rest.Skills)
	if len(all) != 2 || all[0].Name != "a/b" || all[1] != best.skillBody ||
		rest.Next != "" {
		t.Errorf("%+v", all)
	}
}

func TestSkills_ShowLatestNotes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	var got outcomeAnswer
	for n := range 7 {
		got = f.outcome(n%2 == 0, "x", fmt.Sprintf(`,"note":"%d"`, n))
	}
	f.outcome(true, "x", "")
	var notes []string
	for _, n := range got.Workflow.Notes {
		notes = append(notes, fmt.Sprint(n.Note, n.Success))
	}
	if notes := strings.Join(notes, " "); notes != "6true 5false 4true 3false 2true" {
		t.Error(notes)
	}
}

// The workflow with the best outcomes comes first, although another one shares
// more words with the task and was used last.
func TestSkills_RecallBestWorkflowFirst(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for range 8 {
		f.outcome(true, "run make release", "")
	}
	f.advance(60 * 24 * time.Hour)
	f.outcome(true, "deploy the shop to production by hand", "")
	f.want(201, "POST", "/v1/memories", `{"user_id":"u","content":"The shop in the harbour sells bread","importance":0.9}`)
	for _, limit := range []int{1, 5} {
		found := fetch[recallBody](f, 200, "POST", "/v1/recall", fmt.Sprintf(`{"user_id":"u","query":"deploy the shop to `+
			`production","route":false,"touch":false,"limit":%d}`, limit)).Memories
		if len(found) == 0 || found[0].Content != "deploy: run make release" || found[0].Skill <= 0 ||
			found[0].Relevance != 1 {
			t.Errorf("limit %d: %+v", limit, found)
		}
	}
}

// A skill is recalled whatever the domains that its task is routed to.
func TestSkills_AreRecalledInAnyDomain(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.outcome(true, "run make release", "")
	f.want(201, "POST", "/v1/memories", `{"user_id":"u","content":"Dentist appointment next week","importance":0.9,`+
		`"domain":"tasks_and_schedules"}`)
	recall := func(fields string) recallBody {
		return fetch[recallBody](f, 200, "POST", "/v1/recall", `{"user_id":"u","query":"Remind me to deploy the release `+
			`before the appointment","touch":false,"limit":1`+fields+`}`)
	}
	routed := recall("")
	if len(routed.Route.Domains) != 1 || routed.Route.Domains[0] != memory.Tasks ||
		routed.Memories[0].Content != "deploy: run make release" || routed.Memories[0].Domain == memory.Tasks {
		t.Errorf("%+v", routed)
	}
	if chosen := recall(`,"domains":["tasks_and_schedules"]`); chosen.Memories[0].Type == memory.TypeSkill {
		t.Errorf("%+v", chosen)
	}
	if other := recall(`,"types":["fact"]`); other.Memories[0].Type == memory.TypeSkill {
		t.Errorf("%+v", other)
	}
}

func TestSkills_CheckRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.issue("other", "other", memory.RoleAdmin)
	for _, c := range []struct {
		name, body string
		paths      []string
	}{
		{"deploy", `{}`, []string{"user_id", "success", "workflow"}},
		{"deploy", `{"user_id":"u","success":1,"workflow":"","at":"now","note":"","id":"","x":1}`,
			[]string{"success", "workflow", "at", "note", "id", "x"}},
		{"deploy", `{"user_id":"u","success":true,"workflow":" ","at":"1969-12-31T00:00:00Z","agent_id":"\u007f",` +
			`"id":"\u007f","note":" "}`, []string{"workflow", "at", "agent_id", "id", "note"}},
		{"deploy", `{"user_id":"u","success":true,"workflow":"` + strings.Repeat("界", 4037) + `"}`, []string{"workflow"}},
		{"deploy", `{"user_id":"u","success":true,"workflow":"x","note":"` + strings.Repeat("x", 1001) + `"}`,
			[]string{"note"}},
		{strings.Repeat("x", 59), `{"user_id":"u","success":true,"workflow":"x"}`, []string{"path.name"}},
		{"%07", `{"user_id":"u","success":true,"workflow":"x"}`, []string{"path.name"}},
	} {
		f.wantPaths("POST", "/v1/skills/"+c.name+"/outcomes", c.body, c.paths...)
	}
	const whole = `{"user_id":"u","success":true,"workflow":"%s"}`
	longest := fetch[outcomeAnswer](f, 200, "POST", "/v1/skills/"+strings.Repeat("x", 58)+"/outcomes",
		fmt.Sprintf(whole, strings.Repeat("界", 4036)), "Authorization", "Bearer write")
	if m := f.stored(longest.Workflow.MemoryID); len([]rune(m.Content)) != memory.MaxContentRunes {
		t.Errorf("%d characters", len([]rune(m.Content)))
	}
	f.want(403, "POST", "/v1/skills/deploy/outcomes", fmt.Sprintf(whole, "x"), "Authorization", "Bearer read")
	f.want(404, "GET", "/v1/skills/deploy?user_id=u", "", "Authorization", "Bearer other")
	f.wantPaths("GET", "/v1/skills", "", "query.user_id")
	f.wantPaths("GET", "/v1/skills?user_id=u&limit=501", "", "query.limit")
	f.wantPaths("GET", "/v1/skills?user_id=u&cursor=x&agent_id=%07", "", "query.cursor", "query.agent_id")
	f.wantPaths("GET", "/v1/skills/deploy?limit=1", "", "query.user_id", "query.limit")

	f.outcome(true, "x", `,"id":"1"`)
	if receipt := fetch[erasedBody](f, 200, "DELETE", "/v1/users/u", ""); receipt.Deleted.Skills != 2 ||
		receipt.Deleted.Outcomes != 1 {
		t.Errorf("%+v", receipt)
	}
	f.want(404, "GET", "/v1/skills/deploy?user_id=u", "")
}

func TestSkills_LimitWorkflows(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for n := range memory.MaxWorkflows {
		f.outcome(false, fmt.Sprint("way ", n), "")
	}
	f.want(409, "POST", "/v1/skills/deploy/outcomes", `{"user_id":"u","success":true,"workflow":"one more","id":"1"}`)
	f.outcome(true, "way 7", `,"id":"1"`) // the refused outcome was not counted
	f.want(200, "POST", "/v1/skills/another/outcomes", `{"user_id":"u","success":true,"workflow":"one more"}`)
}
