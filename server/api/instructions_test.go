package api

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
)

type instructionPage struct {
	Instructions []instructionBody `json:"instructions"`
	Next         string            `json:"next_cursor"`
}

// publish publishes a text and returns the answer.
func (f *fixture) publish(fields string) publishedBody {
	f.t.Helper()
	return fetch[publishedBody](f, 201, "POST", "/v1/instructions", "{"+fields+"}")
}

const tone = `"scope":"agent","agent_id":"butler","name":"tone"`

func TestInstructions_OfTheAppNeedAnAdmin(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	write := []string{"Authorization", "Bearer write"}
	f.publish(`"scope":"app","name":"tone","content":"Be brief."`)
	f.publish(`"scope":"app","name":"tone","content":"Be kind."`)
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/v1/instructions", `{"scope":"app","name":"tone","content":"Shout."}`},
		{"POST", "/v1/instructions", `{"scope":"app","name":"other","content":"Shout.","activate":false}`},
		{"POST", "/v1/instructions/tone/activate", `{"scope":"app","version":1}`},
		{"POST", "/v1/instructions/tone/rollback", `{"scope":"app"}`},
		{"DELETE", "/v1/instructions/tone?scope=app", ""},
	} {
		if w := f.want(403, c.method, c.path, c.body, write...); !strings.Contains(w.Body.String(), "role admin") {
			t.Errorf("the refusal does not name the role: %s", w.Body)
		}
	}
	got := fetch[publishedBody](f, 200, "GET", "/v1/instructions/tone?scope=app", "", write...)
	if got.Version.Content != "Be kind." || got.Instruction.Latest != 2 {
		t.Errorf("%+v", got)
	}
	f.want(201, "POST", "/v1/instructions", "{"+tone+`,"content":"Be brief."}`, write...)
	f.want(201, "POST", "/v1/instructions", `{"scope":"user","user_id":"u","name":"tone","content":"Sing."}`, write...)
}

func TestInstructions_HaveVersions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	const target, of = "/v1/instructions/tone", "?scope=agent&agent_id=butler"
	first := f.publish(tone + `,"content":"Be brief.\nBe kind.","note":"first"`)
	want := publishedBody{
		instructionBody{
			Scope: wire.Scope{Scope: memory.AgentScope, AgentID: "butler"}, Name: "tone", Active: 1, Latest: 1, ChangedAt: noon,
		},
		wire.InstructionVersion{Number: 1, Content: "Be brief.\nBe kind.", Note: "first", PublishedAt: noon},
	}
	if !reflect.DeepEqual(first, want) {
		t.Errorf("%+v", first)
	}
	f.want(409, "POST", target+"/rollback", `{"scope":"agent","agent_id":"butler"}`)
	f.advance(time.Hour)
	if second := f.publish(tone + `,"content":"Be brief.\nBe warm."`); second.Instruction.Active != 2 ||
		second.Instruction.Previous != 1 || second.Version.Note != "" {
		t.Errorf("%+v", second)
	}
	if draft := f.publish(tone + `,"content":"Sing.","activate":false`); draft.Instruction.Active != 2 ||
		draft.Instruction.Latest != 3 || draft.Version.Number != 3 {
		t.Errorf("%+v", draft)
	}
	f.publish(`"scope":"app","name":"tone","content":"Shout."`) // another instruction
	read := func(query, content string) {
		t.Helper()
		if got := fetch[publishedBody](f, 200, "GET", target+of+query, ""); got.Version.Content != content {
			t.Errorf("%s: %+v", query, got)
		}
	}
	read("", "Be brief.\nBe warm.")
	read("&version=3", "Sing.")
	f.want(404, "GET", target+of+"&version=4", "")
	f.want(404, "GET", "/v1/instructions/tune"+of, "")
	f.want(404, "GET", target+"?scope=user&user_id=butler", "")

	change := func(status int, path, fields string, active, previous int) {
		t.Helper()
		w := f.want(status, "POST", target+path, `{"scope":"agent","agent_id":"butler"`+fields+`}`)
		if status != 200 {
			return
		}
		if got := parse[instructionBody](t, w); got.Active != active || got.Previous != previous || got.Latest != 3 {
			t.Errorf("%s: %+v, want %d after %d", path, got, active, previous)
		}
	}
	change(200, "/activate", `,"version":3`, 3, 2)
	change(200, "/activate", `,"version":3`, 3, 2) // already active
	change(200, "/rollback", "", 2, 1)
	change(200, "/activate", `,"version":3`, 3, 2)
	retired := fetch[instructionBody](f, 200, "DELETE", target+of, "")
	if retired.Active != 0 || retired.Previous != 3 {
		t.Errorf("%+v", retired)
	}
	f.want(404, "GET", target+of, "")
	read("&version=3", "Sing.")
	if again := fetch[instructionBody](f, 200, "DELETE", target+of, ""); again != retired {
		t.Errorf("%+v", again)
	}
	change(200, "/rollback", "", 3, 2)
	change(200, "/rollback", "", 2, 1)
	change(200, "/rollback", "", 1, 0)
	change(409, "/rollback", "", 0, 0)
	change(404, "/activate", `,"version":4`, 0, 0)
	f.want(404, "POST", "/v1/instructions/tune/rollback", `{"scope":"app"}`)
	f.want(404, "DELETE", "/v1/instructions/tune?scope=app", "")

	diff := fetch[map[string]any](f, 200, "GET", target+"/diff"+of+"&from=1&to=2", "")
	if want := "--- version 1\n+++ version 2\n@@ -1,2 +1,2 @@\n Be brief.\n-Be kind.\n\\ No newline at end of file\n+Be " +
		"warm.\n\\ No newline at end of file\n"; diff["diff"] != want {
		t.Errorf("%q, want %q", diff["diff"], want)
	}
	if same := fetch[map[string]any](f, 200, "GET", target+"/diff"+of+"&from=2&to=2", ""); same["diff"] != "" {
		t.Errorf("%q", same["diff"])
	}
	f.want(404, "GET", target+"/diff"+of+"&from=1&to=4", "")

	type versionPage struct {
		Versions []wire.InstructionVersion `json:"versions"`
		Next     string                    `json:"next_cursor"`
	}
	page := fetch[versionPage](f, 200, "GET", target+"/versions"+of+"&limit=2", "")
	rest := fetch[versionPage](f, 200, "GET", target+"/versions"+of+"&limit=1&cursor="+page.Next, "")
	all := slices.Concat(page.Versions, rest.Versions)
	if len(all) != 3 || all[0].Number != 3 || !reflect.DeepEqual(all[2], first.Version) ||
		rest.Next != "" {
		t.Errorf("%+v, %q", all, rest.Next)
	}
	f.want(404, "GET", "/v1/instructions/tune/versions"+of, "")
}

func TestInstructions_AreListedAndMerged(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, fields := range []string{
		`"scope":"app","name":"b","content":"app b"`, `"scope":"app","name":"a/1","content":"app a"`,
		`"scope":"app","name":"语气","content":"app 语气"`,
		`"scope":"agent","agent_id":"x","name":"b","content":"agent b"`, `"scope":"agent","agent_id":"x","name":"c",` +
			`"content":"agent c"`,
		`"scope":"user","user_id":"x","name":"c","content":"user c"`, `"scope":"user","user_id":"x","name":"off",` +
			`"content":"off","activate":false`,
		`"scope":"user","user_id":"y","name":"b","content":"user y"`,
	} {
		f.publish(fields)
	}
	for query, want := range map[string]string{
		"": "app a, app b, app 语气", "?agent_id=x": "app a, app 语气, agent b, agent c",
		"?user_id=x":            "app a, app b, app 语气, user c",
		"?agent_id=x&user_id=x": "app a, app 语气, agent b, user c", "?agent_id=z&user_id=y": "app a, app 语气, user y",
	} {
		var got []string
		for _, i := range fetch[struct {
			Instructions []mergedBody `json:"instructions"`
		}](f, 200, "GET", "/v1/instructions/merged"+query, "").Instructions {
			got = append(got, i.Content)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	var names []string
	for next := ""; ; {
		page := fetch[instructionPage](f, 200, "GET", "/v1/instructions?scope=app&limit=2"+next, "")
		for _, i := range page.Instructions {
			names = append(names, fmt.Sprint(i.Name, i.Active))
		}
		if page.Next == "" {
			break
		}
		next = "&cursor=" + page.Next
	}
	if got := strings.Join(names, ", "); got != "a/11, b1, 语气1" {
		t.Error(got)
	}
	if got := fetch[publishedBody](f, 200, "GET", "/v1/instructions/a%2F1?scope=app", ""); got.Version.Content != "app a" {
		t.Errorf("%+v", got)
	}
	f.want(404, "GET", "/v1/instructions/off?scope=user&user_id=x", "") // was never active
}

func TestInstructions_CheckRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	with := func(fields string) string { return `{"scope":"app","name":"n",` + fields + `}` }
	for _, c := range []struct {
		body  string
		paths []string
	}{
		{`{}`, []string{"scope", "name", "content"}},
		{`{"scope":"room","name":"n","content":"c"}`, []string{"scope"}},
		{`{"scope":"agent","name":"n","content":"c"}`, []string{"agent_id"}},
		{`{"scope":"user","agent_id":"a","name":"n","content":"c"}`, []string{"agent_id", "user_id"}},
		{`{"scope":"app","user_id":"u","name":"merged","content":" "}`, []string{"user_id", "name", "content"}},
		{`{"scope":"user","user_id":"\u007f","name":"a\nb","content":"\t","note":" "}`,
			[]string{"user_id", "name", "content", "note"}},
		{`{"scope":"app","name":"\u0000","content":"c"}`, []string{"name"}},
		{`{"scope":"app","name":"` + strings.Repeat("界", 129) + `","content":"` + strings.Repeat("界", 16385) + `"}`,
			[]string{"name", "content"}},
		{with(`"content":"c","note":"","activate":1,"version":1`), []string{"note", "activate", "version"}},
		{with(`"content":"c","note":"` + strings.Repeat("x", 1001) + `"`), []string{"note"}},
	} {
		f.wantPaths("POST", "/v1/instructions", c.body, c.paths...)
	}
	f.want(201, "POST", "/v1/instructions", `{"scope":"app","name":"`+strings.Repeat("界",
		128)+`","content":"`+strings.Repeat("界", 16384)+`"}`)
	for target, paths := range map[string][]string{
		"/v1/instructions":                                        {"query.scope"},
		"/v1/instructions?scope=user":                             {"query.user_id"},
		"/v1/instructions?scope=app&cursor=x":                     {"query.cursor"},
		"/v1/instructions/merged?scope=app":                       {"query.scope"},
		"/v1/instructions/n?scope=app&version=0":                  {"query.version"},
		"/v1/instructions/n/versions?scope=app&cursor=x":          {"query.cursor"},
		"/v1/instructions/n/diff?scope=app&from=1":                {"query.to"},
		"/v1/instructions/n/diff?scope=app&from=1&to=99999999999": {"query.to"},
	} {
		f.wantPaths("GET", target, "", paths...)
	}
	f.wantPaths("POST", "/v1/instructions/n/activate", `{"scope":"app"}`, "version")
	f.wantPaths("POST", "/v1/instructions/n/rollback", `{"scope":"user"}`, "user_id")
	f.wantPaths("POST", "/v1/instructions/n/rollback", `{"scope":"app","version":1}`, "version")
	f.wantPaths("DELETE", "/v1/instructions/"+strings.Repeat("x", 129)+"?scope=agent", "", "path.name")
	f.wantPaths("DELETE", "/v1/instructions/a%0Ab?scope=agent", "", "path.name", "query.agent_id")
}

func TestInstructions_RequireRoles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.issue("other", "other", memory.RoleAdmin)
	const body = `{"scope":"user","user_id":"u","name":"n","content":"c"}`
	f.want(403, "POST", "/v1/instructions", body, "Authorization", "Bearer read")
	f.want(201, "POST", "/v1/instructions", body, "Authorization", "Bearer write")
	f.want(201, "POST", "/v1/instructions", `{"scope":"app","name":"n","content":"c"}`)
	f.want(200, "GET", "/v1/instructions/n?scope=user&user_id=u", "", "Authorization", "Bearer read")
	f.want(403, "DELETE", "/v1/instructions/n?scope=user&user_id=u", "", "Authorization", "Bearer read")
	f.want(403, "POST", "/v1/instructions/n/activate", `{"scope":"app","version":1}`, "Authorization", "Bearer read")
	f.want(403, "POST", "/v1/instructions/n/rollback", `{"scope":"app"}`, "Authorization", "Bearer read")
	for _, target := range []string{"/v1/instructions?scope=user&user_id=u", "/v1/instructions?scope=app",
		"/v1/instructions/merged?user_id=u"} {
		if page := fetch[instructionPage](f, 200, "GET", target, "", "Authorization",
			"Bearer other"); len(page.Instructions) != 0 {
			t.Errorf("another app sees %+v", page)
		}
	}
	f.want(404, "DELETE", "/v1/instructions/n?scope=app", "", "Authorization", "Bearer other")

	if receipt := fetch[erasedBody](f, 200, "DELETE", "/v1/users/u", ""); receipt.Deleted.Instructions != 1 {
		t.Errorf("%+v", receipt)
	}
	f.want(404, "GET", "/v1/instructions/n?scope=user&user_id=u&version=1", "")
	f.want(200, "GET", "/v1/instructions/n?scope=app", "")
}

func TestInstructions_LimitActiveOfScope(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for n := range memory.MaxActiveInstructions {
		f.publish(fmt.Sprintf(`"scope":"user","user_id":"u","name":"n%d","content":"c"`, n))
	}
	const more = `{"scope":"user","user_id":"u","name":"more","content":"c"`
	f.want(http.StatusConflict, "POST", "/v1/instructions", more+"}")
	f.want(404, "GET", "/v1/instructions/more?scope=user&user_id=u&version=1", "")
	f.want(201, "POST", "/v1/instructions", more+`,"activate":false}`)
	// replaces the active version
	f.want(201, "POST", "/v1/instructions", `{"scope":"user","user_id":"u","name":"n7","content":"d"}`)
	f.want(http.StatusConflict, "POST", "/v1/instructions/more/activate", `{"scope":"user","user_id":"u","version":1}`)
	f.want(200, "DELETE", "/v1/instructions/n7?scope=user&user_id=u", "")
	f.want(200, "POST", "/v1/instructions/more/activate", `{"scope":"user","user_id":"u","version":1}`)
	f.want(http.StatusConflict, "POST", "/v1/instructions/n7/rollback", `{"scope":"user","user_id":"u"}`)
}
