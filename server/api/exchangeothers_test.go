package api

import (
	"slices"
	"strings"
	"testing"

	"hippocampus/exchange"
)

// fillOthers stores an entry of each kind other than memories.
func (f *fixture) fillOthers() {
	f.t.Helper()
	f.work() // processes the turn
	f.want(200, "PUT", "/v1/facts", `{"user_id":"u","type":"profile","key":"city","value":{"name":"Lisbon","at":null},`+
		`"source":"chat"}`)
	f.want(200, "PUT", "/v1/facts", `{"user_id":"u","type":"profile","key":"job","value":1.5}`)
	f.want(200, "DELETE", "/v1/facts?user_id=u&type=profile&key=job", "")
	f.want(201, "POST", "/v1/instructions", `{"scope":"agent","agent_id":"butler","name":"tone","content":"warm",`+
		`"note":"so"}`)
	f.want(201, "POST", "/v1/instructions", `{"scope":"user","user_id":"u","name":"tone","content":"warm"}`)
	f.want(201, "POST", "/v1/instructions", `{"scope":"user","user_id":"u","name":"tone","content":"cold"}`)
	f.want(200, "POST", "/v1/skills/deploy/outcomes", `{"user_id":"u","workflow":"make","success":true,"note":"fine",`+
		`"id":"run"}`)
	f.want(200, "POST", "/v1/memory-tool", `{"user_id":"u","command":"create","path":"/memories/a","file_text":"One.\n"}`)
	f.want(200, "POST", "/v1/memory-tool", `{"user_id":"u","command":"insert","path":"/memories/a","insert_line":0,`+
		`"insert_text":"Two.\n"}`)
	f.want(200, "POST", "/v1/turns", `{"user_id":"u","conversation_id":"c","wait":true,"id":"client","metadata":{"a":1},
		"messages":[{"role":"user","content":"Hi.","name":"U","tags":["x"],"context":{"direct_message":true}},
			{"role":"tool","content":"","kind":"observation"},
			{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","function":{"name":"<b>","arguments":"{}"}}]}]}`)
}

// Every exported line satisfies openapi.yaml, the round trip is exact, and the
// export of a user has only entries of that user.
func TestExchange_RoundTripsOtherKinds(t *testing.T) {
	t.Parallel()
	from, to := newFixture(t, nil), newFixture(t, nil)
	from.fillOthers()
	whole := from.want(200, "GET", "/v1/export", "").Body.String()
	for line := range strings.Lines(whole) {
		if err := from.checkLine(line); err != nil {
			t.Errorf("openapi.yaml refuses %s: %v", line, err)
		}
	}
	want := exchange.Tallies{
		exchange.Facts: {Imported: 3}, exchange.Instructions: {Imported: 2}, exchange.Versions: {Imported: 3},
		exchange.Skills: {Imported: 1}, exchange.Files: {Imported: 1}, exchange.FileVersions: {Imported: 1},
		exchange.Outcomes: {Imported: 1}, exchange.Conversations: {Imported: 1}, exchange.Turns: {Imported: 1},
	}
	r := to.bring(whole)
	for kind, tally := range want {
		if r.Others[kind] != tally {
			t.Errorf("%s: %+v", kind, r.Others[kind])
		}
	}
	if r.Failed > 0 || !r.Complete || len(r.Others) != len(want) {
		t.Errorf("%+v", r)
	}
	if again := to.want(200, "GET", "/v1/export", "").Body.String(); again != whole {
		t.Errorf("the round trip is not exact:\n%s\n%s", whole, again)
	}
	one := from.want(200, "GET", "/v1/export?user_id=u", "", "Authorization", "Bearer read").Body.String()
	if strings.Contains(one, "butler") || strings.Count(one, `"instruction_version"`) != 2 {
		t.Errorf("one user's: %s", one)
	}
}

// Each field of a line is checked against openapi.yaml.
func TestExchange_RefusesBadLinesOfOtherKinds(t *testing.T) {
	t.Parallel()
	from, to := newFixture(t, nil), newFixture(t, nil)
	from.fillOthers()
	good := strings.Split(from.want(200, "GET", "/v1/export?user_id=u", "").Body.String(), "\n")
	line := func(kind string) string {
		i := slices.IndexFunc(good, func(l string) bool { return strings.HasPrefix(l, `{"`+kind+`":`) })
		if i < 0 {
			t.Fatalf("no %s is exported", kind)
		}
		return good[i]
	}
	lines, wants := []string{exportHead}, []string{""}
	for _, c := range []struct{ kind, from, to, want string }{
		{"fact", `"fact":{`, `"fact":{"x":1,`, "fact.x"},
		{"fact", `"type":"profile"`, `"type":""`, "fact.type"},
		{"fact", `"state":"accepted"`, `"state":"lost"`, "fact.state"},
		{"fact", `"confidence":1`, `"confidence":"1"`, "fact.confidence"},
		{"fact", `"source":"chat"`, `"source":"` + strings.Repeat("x", 257) + `"`, "fact.source"},
		{"instruction", `"latest":2`, `"latest":0`, "instruction.latest"},
		{"instruction", `"latest":2`, `"latest":2.5`, "instruction.latest"},
		{"instruction", `"scope":"user"`, `"scope":"world"`, "instruction.scope"},
		{"instruction", `"before":[1]`, `"before":[` + strings.Repeat("1,", 100) + `1]`, "instruction.before"},
		{"instruction_version", `"content":"cold"`, `"content":"` + strings.Repeat("x", 16385) + `"`,
			"instruction_version.content"},
		{"instruction_version", `"content":"cold"`, `"content":null`, "instruction_version.content"},
		{"skill", `"successes":1`, `"successes":-1`, "skill.successes"},
		{"skill", `"note":"fine"`, `"note":""`, "skill.notes[0].note"},
		{"skill", `"name":"deploy"`, `"name":"a\u0000"`, "NUL"},
		{"outcome", `"hash":"`, `"hash":"0`, "outcome.hash"},
		{"file", `"path":"/memories/a"`, `"path":"/memories/a\\b"`, "file.path"},
		{"file", `"paragraphs":[{"hash":"`, `"paragraphs":[{"hash":"0`, "file.paragraphs[0].hash"},
		{"file_version", `"version":1`, `"version":0`, "file_version.version"},
		{"conversation", `"turns":1`, `"turns":0`, "conversation.turns"},
		{"conversation", `"id":"c"`, `"id":""`, "conversation.id"},
		{"turn", `"status":"processed"`, `"status":"accepted"`, "turn.status"},
		{"turn", `"role":"user"`, `"role":"boss"`, "turn.messages[0].role"},
		{"turn", `"kind":"observation"`, `"kind":"gossip"`, "turn.messages[1].kind"},
		{"turn", `"tags":["x"]`, `"tags":[""]`, "turn.messages[0].tags"},
		{"turn", `"messages":[`, `"messages":[{"role":"user","content":"` + strings.Repeat("x", 65537) + `"},`,
			"turn.messages[0].content"},
		{"turn", `"metadata":{"a":1}`, `"metadata":` + strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40), "nested"},
	} {
		changed := strings.Replace(line(c.kind), c.from, c.to, 1)
		if changed == line(c.kind) {
			t.Errorf("%s is not in %s", c.from, changed)
		}
		lines, wants = append(lines, changed), append(wants, c.want)
	}
	lines, wants = append(lines, `{"consolidation":{"state":"pending"}}`,
		`{"end":{"memories":0,"dreams":1}}`), append(wants, "consolidation.state", "end.dreams")
	empty := to.want(200, "GET", "/v1/export", "").Body.String()
	r := to.bring(strings.Join(lines, "\n"))
	if r.Failed != len(lines)-1 || len(r.Others) > 0 {
		t.Errorf("%d of %d failed: %+v", r.Failed, len(lines)-1, r)
	}
	for _, e := range r.Errors {
		if !strings.Contains(e.Message, wants[e.Line-1]) || len(e.Message) > 600 {
			t.Errorf("line %d: %.120s: %.300s, want %q", e.Line, lines[e.Line-1], e.Message, wants[e.Line-1])
		}
	}
	if now := to.want(200, "GET", "/v1/export", "").Body.String(); now != empty {
		t.Errorf("something was written: %s", now)
	}
}
