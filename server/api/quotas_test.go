package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/server/frame"
)

// overQuota requires a 429 that names the quota and its bound.
func (f *fixture) overQuota(setting string, bound int, method, path, body string) {
	f.t.Helper()
	w := f.want(429, method, path, body)
	p := parse[frame.Problem](f.t, w)
	if p.Type != "urn:hippocampus:problem:"+string(memory.KindTooFast) || w.Header().Get("Retry-After") != "60" ||
		!strings.Contains(p.Detail, setting) || !strings.Contains(p.Detail, fmt.Sprintf("is %d ", bound)) {
		f.t.Errorf("%s %s: %+v %v", method, path, p, w.Header())
	}
}

func TestQuotas_RefuseFurtherMemories(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Quotas.Default.Memories = 3 })
	first := f.keep(ingest.Write{Owner: owner("u"), Content: "I keep bees."})
	f.keep(ingest.Write{Owner: owner("u"), Content: "I live in Porto."})
	f.overQuota("quotas.memories", 3, "POST", "/v1/memories/batch",
		`{"memories":[{"user_id":"u","content":"x"},{"user_id":"u","content":"y"}]}`)
	f.want(201, "POST", "/v1/memories", `{"user_id":"u","content":"I play chess."}`)
	for path, body := range map[string]string{
		"POST /v1/memories":           `{"user_id":"u","content":"I run."}`,
		"POST /v1/turns":              `{"user_id":"u","messages":[{"role":"user","content":"I run every day."}]}`,
		"PUT /v1/facts":               `{"user_id":"u","type":"profile","key":"city","value":"Faro"}`,
		"POST /v1/candidates/promote": `{"ids":["` + someID + `"]}`,
	} {
		method, path, _ := strings.Cut(path, " ")
		f.overQuota("quotas.memories", 3, method, path, body)
	}
	f.issue("foreign", "other", memory.RoleAdmin)
	f.want(201, "POST", "/v1/memories", `{"user_id":"u","content":"I run."}`, "Authorization", "Bearer foreign")
	f.want(200, "POST", "/v1/recall", `{"user_id":"u","query":"bees"}`)
	if counted := `hippocampus_requests_refused_total{limit="quotas.memories"} 5`; !strings.Contains(
		f.want(200, "GET", "/metrics", "").Body.String(), counted) {
		t.Errorf("the metrics lack %s", counted)
	}

	f.want(200, "DELETE", "/v1/memories/"+first.ID, "")
	f.advance(usageAge)
	f.want(201, "POST", "/v1/memories", `{"user_id":"u","content":"I run."}`)
	f.overQuota("quotas.memories", 3, "POST", "/v1/memories", `{"user_id":"u","content":"I swim."}`)
}

func TestQuotas_RefuseFurtherUsers(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Quotas.Default.Users = 2 })
	write := func(user string) string { return `{"user_id":"` + user + `","content":"I keep bees."}` }
	f.keep(ingest.Write{Owner: owner("u"), Content: "I live in Porto."})
	f.want(201, "POST", "/v1/memories", write("v"))
	f.overQuota("quotas.users", 2, "POST", "/v1/memories", write("w"))
	f.overQuota("quotas.users", 2, "POST", "/v1/turns",
		`{"user_id":"w","messages":[{"role":"user","content":"I run every day."}]}`)
	for _, user := range []string{"u", "v"} {
		f.want(201, "POST", "/v1/memories", write(user))
	}
	f.want(200, "DELETE", "/v1/users/v", "")
	f.advance(usageAge)
	f.want(201, "POST", "/v1/memories", write("w"))
}

func TestQuotas_RefuseFurtherBytes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Quotas.Default.Bytes = 20 })
	kept := f.keep(ingest.Write{Owner: owner("u"), Content: "I keep bees."})
	for path, body := range map[string]string{
		"POST /v1/memories":             `{"user_id":"u","content":"Bücher!!"}`,
		"POST /v1/memories/batch":       `{"memories":[{"user_id":"u","content":"abcd"},{"user_id":"u","content":"abcde"}]}`,
		"POST /v1/turns":                `{"user_id":"u","messages":[{"role":"user","content":"I run."}]}`,
		"PATCH /v1/memories/" + kept.ID: `{"content":"123456789"}`,
		"PUT /v1/facts":                 `{"user_id":"u","type":"profile","key":"city","value":"Lisbon in May"}`,
	} {
		method, path, _ := strings.Cut(path, " ")
		f.overQuota("quotas.bytes", 20, method, path, body)
	}
	f.want(201, "POST", "/v1/memories", `{"user_id":"u","content":"12345678"}`)
	f.overQuota("quotas.bytes", 20, "POST", "/v1/memories", `{"user_id":"u","content":"x"}`)
	f.want(200, "PATCH", "/v1/memories/"+kept.ID, `{"pinned":true}`)
}

func TestQuotas_RefuseFurtherVersions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Quotas.Default.Versions = 3 })
	kept := parse[wire.Memory](t, f.want(201, "POST", "/v1/memories", `{"user_id":"u","content":"I keep bees."}`))
	publish := `{"scope":"app","name":"tone","content":"Be brief."}`
	f.want(200, "PATCH", "/v1/memories/"+kept.ID, `{"content":"I keep hens."}`)
	f.want(201, "POST", "/v1/instructions", publish)
	f.advance(usageAge)
	for path, body := range map[string]string{
		"PATCH /v1/memories/" + kept.ID:          `{"content":"I keep cows."}`,
		"POST /v1/memories/" + kept.ID + "/undo": `{}`,
		"POST /v1/instructions":                  publish,
		"POST /v1/memories":                      `{"user_id":"u","content":"I run."}`,
	} {
		method, path, _ := strings.Cut(path, " ")
		f.overQuota("quotas.versions", 3, method, path, body)
	}
	f.want(200, "DELETE", "/v1/memories/"+kept.ID, "")
	f.want(200, "DELETE", "/v1/users/u", "")
	f.advance(usageAge)
	f.want(201, "POST", "/v1/memories", `{"user_id":"u","content":"I run."}`)
}

func TestQuotas_RefuseFurtherWebhooks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Quotas.Default.Webhooks = 1 })
	const body = `{"url":"https://backend.example.com/memories"}`
	hook := parse[webhookBody](t, f.want(201, "POST", "/v1/webhooks", body))
	f.overQuota("quotas.webhooks", 1, "POST", "/v1/webhooks", body)
	f.want(204, "DELETE", "/v1/webhooks/"+hook.ID, "")
	f.advance(usageAge)
	f.want(201, "POST", "/v1/webhooks", body)
}

func TestQuotas_OfOneApp(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) {
		o.Quotas.Default.Memories = 1
		o.Quotas.Apps = map[string]db.Usage{"large": {Memories: 2}, "any": {}}
	})
	for app, most := range map[string]int{"app": 1, "large": 2, "any": 3} {
		f.issue("key of "+app, app, memory.RoleWrite)
		for n := range 3 {
			status := 201
			if n >= most {
				status = 429
			}
			w := f.want(status, "POST", "/v1/memories", fmt.Sprintf(`{"user_id":"u","content":"I own %d boats."}`, n),
				"Authorization", "Bearer key of "+app)
			if status == 429 && app == "large" && !strings.Contains(w.Body.String(), "raise quotas.apps.large.memories") {
				t.Errorf("the answer does not name the setting of the app: %s", w.Body)
			}
		}
	}
}

// A client that missed the answer to its turn gets it, although the app has used up its quota since.
func TestQuotas_AnswerARepeatedTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Quotas.Default.Memories = 2 })
	turn := func(id, content string) string {
		return `{"id":"` + id + `","user_id":"u","messages":[{"role":"user","content":"` + content + `"}]}`
	}
	first := parse[turnBody](t, f.want(202, "POST", "/v1/turns", turn("t1", "I run every day.")))
	f.keep(ingest.Write{Owner: owner("u"), Content: "I keep bees."})
	f.keep(ingest.Write{Owner: owner("u"), Content: "I live in Porto."})
	f.advance(usageAge)
	f.overQuota("quotas.memories", 2, "POST", "/v1/turns", turn("t2", "I run every day."))
	f.overQuota("quotas.memories", 2, "POST", "/v1/turns", turn(first.ID, "I swim.")) // not a client id
	again := parse[turnBody](t, f.want(202, "POST", "/v1/turns", turn("t1", "I run every day.")))
	if again.ID != first.ID || !again.Repeated {
		t.Errorf("the repeated turn is answered by %+v, want turn %s", again, first.ID)
	}
	f.want(409, "POST", "/v1/turns", turn("t1", "I swim."))
}

// The lines of an import that exceed a quota are in its report.
func TestQuotas_BoundImports(t *testing.T) {
	t.Parallel()
	from, to := newFixture(t, nil), newFixture(t, func(o *Options) { o.Quotas.Default.Memories = 2 })
	for i := range 4 {
		from.keep(ingest.Write{Owner: owner("u"), Content: fmt.Sprintf("I own %d boats.", i)})
		from.advance(time.Second)
	}
	stream := from.want(200, "GET", "/v1/export", "").Body.String()
	r := to.bring(stream)
	if r.Imported != 2 || !r.Complete || len(r.Errors) != 2 { // the stream is whole
		t.Fatalf("report %+v", r)
	}
	for _, refused := range r.Errors {
		if !strings.Contains(refused.Message, "quotas.memories") {
			t.Errorf("line %d: %s", refused.Line, refused.Message)
		}
	}
	if used, err := to.store.Usage(t.Context(), "app", db.Usage{Memories: 1}); err != nil || used.Memories != 2 {
		t.Errorf("usage %+v, %v", used, err)
	}
	if !strings.Contains(to.want(200, "GET", "/metrics", "").Body.String(),
		`hippocampus_requests_refused_total{limit="quotas.memories"} 2`) {
		t.Error("the metrics do not count the refused lines")
	}
}
