package api

import (
	"fmt"
	"net/http"
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

// publish publishes a text and answers what stands.
func (b *fixture) publish(fields string) publishedBody {
	b.t.Helper()
	return parse[publishedBody](b.t, b.want(201, "POST", "/v1/instructions", "{"+fields+"}"))
}

const tone = `"scope":"agent","agent_id":"butler","name":"tone"`

func TestInstructionsInVersions(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	const target, of = "/v1/instructions/tone", "?scope=agent&agent_id=butler"
	first := b.publish(tone + `,"content":"Be brief.\nBe kind.","note":"first"`)
	if first.Instruction != (instructionBody{wire.Scope{Scope: memory.AgentScope, AgentID: "butler"}, "tone", 1, 0, 1, noon}) || first.Version != (wire.InstructionVersion{Number: 1, Content: "Be brief.\nBe kind.", Note: "first", PublishedAt: noon}) {
		t.Errorf("%+v", first)
	}
	b.want(409, "POST", target+"/rollback", `{"scope":"agent","agent_id":"butler"}`)
	b.advance(time.Hour)
	if second := b.publish(tone + `,"content":"Be brief.\nBe warm."`); second.Instruction.Active != 2 || second.Instruction.Previous != 1 || second.Version.Note != "" {
		t.Errorf("%+v", second)
	}
	if draft := b.publish(tone + `,"content":"Sing.","activate":false`); draft.Instruction.Active != 2 || draft.Instruction.Latest != 3 || draft.Version.Number != 3 {
		t.Errorf("%+v", draft)
	}
	b.publish(`"scope":"app","name":"tone","content":"Shout."`) // another one
	read := func(query, content string) {
		t.Helper()
		if got := parse[publishedBody](t, b.want(200, "GET", target+of+query, "")); got.Version.Content != content {
			t.Errorf("%s: %+v", query, got)
		}
	}
	read("", "Be brief.\nBe warm.")
	read("&version=3", "Sing.")
	b.want(404, "GET", target+of+"&version=4", "")
	b.want(404, "GET", "/v1/instructions/tune"+of, "")
	b.want(404, "GET", target+"?scope=user&user_id=butler", "")

	change := func(status int, path, fields string, active, previous int) {
		t.Helper()
		w := b.want(status, "POST", target+path, `{"scope":"agent","agent_id":"butler"`+fields+`}`)
		if status != 200 {
			return
		}
		if got := parse[instructionBody](t, w); got.Active != active || got.Previous != previous || got.Latest != 3 {
			t.Errorf("%s: %+v, want %d after %d", path, got, active, previous)
		}
	}
	change(200, "/activate", `,"version":3`, 3, 2)
	change(200, "/activate", `,"version":3`, 3, 2) // which it is
	change(200, "/rollback", "", 2, 1)
	change(200, "/activate", `,"version":3`, 3, 2)
	retired := parse[instructionBody](t, b.want(200, "DELETE", target+of, ""))
	if retired.Active != 0 || retired.Previous != 3 {
		t.Errorf("%+v", retired)
	}
	b.want(404, "GET", target+of, "")
	read("&version=3", "Sing.")
	if again := parse[instructionBody](t, b.want(200, "DELETE", target+of, "")); again != retired {
		t.Errorf("%+v", again)
	}
	change(200, "/rollback", "", 3, 2)
	change(200, "/rollback", "", 2, 1)
	change(200, "/rollback", "", 1, 0)
	change(409, "/rollback", "", 0, 0)
	change(404, "/activate", `,"version":4`, 0, 0)
	b.want(404, "POST", "/v1/instructions/tune/rollback", `{"scope":"app"}`)
	b.want(404, "DELETE", "/v1/instructions/tune?scope=app", "")

	diff := parse[map[string]any](t, b.want(200, "GET", target+"/diff"+of+"&from=1&to=2", ""))
	if want := "--- version 1\n+++ version 2\n@@ -1,2 +1,2 @@\n Be brief.\n-Be kind.\n\\ No newline at end of file\n+Be warm.\n\\ No newline at end of file\n"; diff["diff"] != want {
		t.Errorf("%q, want %q", diff["diff"], want)
	}
	if same := parse[map[string]any](t, b.want(200, "GET", target+"/diff"+of+"&from=2&to=2", "")); same["diff"] != "" {
		t.Errorf("%q", same["diff"])
	}
	b.want(404, "GET", target+"/diff"+of+"&from=1&to=4", "")

	type versionPage struct {
		Versions []wire.InstructionVersion `json:"versions"`
		Next     string                    `json:"next_cursor"`
	}
	page := parse[versionPage](t, b.want(200, "GET", target+"/versions"+of+"&limit=2", ""))
	rest := parse[versionPage](t, b.want(200, "GET", target+"/versions"+of+"&limit=1&cursor="+page.Next, ""))
	if all := append(page.Versions, rest.Versions...); len(all) != 3 || all[0].Number != 3 || all[2] != first.Version || rest.Next != "" {
		t.Errorf("%+v, %q", all, rest.Next)
	}
	b.want(404, "GET", "/v1/instructions/tune/versions"+of, "")
}

func TestInstructionsAreListedAndMerged(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	for _, fields := range []string{
		`"scope":"app","name":"b","content":"app b"`, `"scope":"app","name":"a/1","content":"app a"`, `"scope":"app","name":"语气","content":"app 语气"`,
		`"scope":"agent","agent_id":"x","name":"b","content":"agent b"`, `"scope":"agent","agent_id":"x","name":"c","content":"agent c"`,
		`"scope":"user","user_id":"x","name":"c","content":"user c"`, `"scope":"user","user_id":"x","name":"off","content":"off","activate":false`,
		`"scope":"user","user_id":"y","name":"b","content":"user y"`,
	} {
		b.publish(fields)
	}
	for query, want := range map[string]string{
		"": "app a, app b, app 语气", "?agent_id=x": "app a, app 语气, agent b, agent c", "?user_id=x": "app a, app b, app 语气, user c",
		"?agent_id=x&user_id=x": "app a, app 语气, agent b, user c", "?agent_id=z&user_id=y": "app a, app 语气, user y",
	} {
		var got []string
		for _, i := range parse[struct {
			Instructions []mergedBody `json:"instructions"`
		}](t, b.want(200, "GET", "/v1/instructions/merged"+query, "")).Instructions {
			got = append(got, i.Content)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	var names []string
	for next := ""; ; {
		page := parse[instructionPage](t, b.want(200, "GET", "/v1/instructions?scope=app&limit=2"+next, ""))
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
	if got := parse[publishedBody](t, b.want(200, "GET", "/v1/instructions/a%2F1?scope=app", "")); got.Version.Content != "app a" {
		t.Errorf("%+v", got)
	}
	b.want(404, "GET", "/v1/instructions/off?scope=user&user_id=x", "") // it never was active
}

func TestInstructionRequestsAreChecked(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
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
		{`{"scope":"user","user_id":"\u007f","name":"a\nb","content":"\t","note":" "}`, []string{"user_id", "name", "content", "note"}},
		{`{"scope":"app","name":"n","content":"\u0000"}`, []string{"content"}},
		{`{"scope":"app","name":"` + strings.Repeat("界", 129) + `","content":"` + strings.Repeat("界", 16385) + `"}`, []string{"name", "content"}},
		{with(`"content":"c","note":"","activate":1,"version":1`), []string{"note", "activate", "version"}},
		{with(`"content":"c","note":"` + strings.Repeat("x", 1001) + `"`), []string{"note"}},
	} {
		b.wantPaths("POST", "/v1/instructions", c.body, c.paths...)
	}
	b.want(201, "POST", "/v1/instructions", `{"scope":"app","name":"`+strings.Repeat("界", 128)+`","content":"`+strings.Repeat("界", 16384)+`"}`)
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
		b.wantPaths("GET", target, "", paths...)
	}
	b.wantPaths("POST", "/v1/instructions/n/activate", `{"scope":"app"}`, "version")
	b.wantPaths("POST", "/v1/instructions/n/rollback", `{"scope":"user"}`, "user_id")
	b.wantPaths("POST", "/v1/instructions/n/rollback", `{"scope":"app","version":1}`, "version")
	b.wantPaths("DELETE", "/v1/instructions/"+strings.Repeat("x", 129)+"?scope=agent", "", "path.name")
	b.wantPaths("DELETE", "/v1/instructions/a%0Ab?scope=agent", "", "path.name", "query.agent_id")
}

func TestInstructionsNeedTheirRoles(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	b.issue("other", "other", memory.RoleAdmin)
	const body = `{"scope":"user","user_id":"u","name":"n","content":"c"}`
	b.want(403, "POST", "/v1/instructions", body, "Authorization", "Bearer read")
	b.want(201, "POST", "/v1/instructions", body, "Authorization", "Bearer write")
	b.want(201, "POST", "/v1/instructions", `{"scope":"app","name":"n","content":"c"}`, "Authorization", "Bearer write")
	b.want(200, "GET", "/v1/instructions/n?scope=user&user_id=u", "", "Authorization", "Bearer read")
	b.want(403, "DELETE", "/v1/instructions/n?scope=user&user_id=u", "", "Authorization", "Bearer read")
	b.want(403, "POST", "/v1/instructions/n/activate", `{"scope":"app","version":1}`, "Authorization", "Bearer read")
	b.want(403, "POST", "/v1/instructions/n/rollback", `{"scope":"app"}`, "Authorization", "Bearer read")
	for _, target := range []string{"/v1/instructions?scope=user&user_id=u", "/v1/instructions?scope=app", "/v1/instructions/merged?user_id=u"} {
		if page := parse[instructionPage](t, b.want(200, "GET", target, "", "Authorization", "Bearer other")); len(page.Instructions) != 0 {
			t.Errorf("another app sees %+v", page)
		}
	}
	b.want(404, "DELETE", "/v1/instructions/n?scope=app", "", "Authorization", "Bearer other")

	if receipt := parse[erasedBody](t, b.want(200, "DELETE", "/v1/users/u", "")); receipt.Deleted.Instructions != 1 {
		t.Errorf("%+v", receipt)
	}
	b.want(404, "GET", "/v1/instructions/n?scope=user&user_id=u&version=1", "")
	b.want(200, "GET", "/v1/instructions/n?scope=app", "")
}

func TestScopesHoldSoManyInstructions(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	for n := range memory.MaxActiveInstructions {
		b.publish(fmt.Sprintf(`"scope":"user","user_id":"u","name":"n%d","content":"c"`, n))
	}
	const more = `{"scope":"user","user_id":"u","name":"more","content":"c"`
	b.want(http.StatusConflict, "POST", "/v1/instructions", more+"}")
	b.want(404, "GET", "/v1/instructions/more?scope=user&user_id=u&version=1", "")
	b.want(201, "POST", "/v1/instructions", more+`,"activate":false}`)
	b.want(201, "POST", "/v1/instructions", `{"scope":"user","user_id":"u","name":"n7","content":"d"}`) // no more than before
	b.want(http.StatusConflict, "POST", "/v1/instructions/more/activate", `{"scope":"user","user_id":"u","version":1}`)
	b.want(200, "DELETE", "/v1/instructions/n7?scope=user&user_id=u", "")
	b.want(200, "POST", "/v1/instructions/more/activate", `{"scope":"user","user_id":"u","version":1}`)
	b.want(http.StatusConflict, "POST", "/v1/instructions/n7/rollback", `{"scope":"user","user_id":"u"}`)
}
