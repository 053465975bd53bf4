package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

func TestAuth_AcceptsBearerAndHeader(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, c := range []struct {
		status  int
		headers []string
	}{
		{200, []string{"Authorization", "Bearer read"}},
		{200, []string{"Authorization", "bearer  read"}},
		{200, []string{"Authorization", "", "X-API-Key", "read"}},
		{401, []string{"Authorization", ""}},
		{401, []string{"Authorization", "Basic cmVhZA=="}},
		{401, []string{"Authorization", "Bearer"}},
		{401, []string{"Authorization", "Bearer unknown"}},
		{401, []string{"Authorization", "Bearer " + strings.Repeat("k", 600)}},
		{401, []string{"Authorization", "", "X-API-Key", "unknown"}},
	} {
		f.want(c.status, "GET", "/v1/stats", "", c.headers...)
	}
}

// Each route admits its role and the stronger ones, and no other role.
func TestAuth_RoutesRequireRoles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	id := f.peanuts().ID
	f.accept("u", id, "I moved to Lisbon.") // the same id for the routes of turns
	for _, rt := range f.routes() {
		if rt.Role == "" {
			status := 200
			if strings.Contains(rt.Path, ":") {
				status = 404 // the fixture has no such document
			}
			f.want(status, rt.Method, rt.Path, "", "Authorization", "")
			continue
		}
		path := filled(frame.ContractPath(rt.Path), id)
		if rt.Path == "/v1/export" {
			path += "?user_id=u" // an export of every user needs a stronger role: see TestExchange_ChecksRequests
		}
		f.want(401, rt.Method, path, "", "Authorization", "")
		for i, role := range memory.Roles {
			w := f.send(rt.Method, path, "{}", "Authorization", "Bearer "+string(role))
			if refused := w.Code == http.StatusForbidden; refused != (i < slices.Index(memory.Roles, rt.Role)) {
				t.Errorf("%s %s with role %s: %d", rt.Method, rt.Path, role, w.Code)
			} else if refused && !strings.Contains(w.Body.String(), "role "+string(rt.Role)) {
				t.Errorf("the refusal does not name the role needed: %s", w.Body)
			}
		}
	}
}

// A key without an app is admitted to the routes about the whole server, and to no route about an app.
func TestAuth_OperatorWithoutAppReadsNoApp(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.issue("server-wide", "", memory.RoleOperator)
	id := f.peanuts().ID
	admitted := map[string]bool{
		"GET /v1/jobs": true, "GET /v1/jobs/:id": true, "GET /v1/admin/state": true, "GET /v1/key": true,
		"GET /v1/admin/keys": true, "POST /v1/admin/keys": true, "DELETE /v1/admin/keys/:id": true,
		"POST /v1/admin/verify": true, "POST /v1/admin/repair": true, "POST /v1/admin/rebuild": true,
	}
	for _, rt := range f.routes() {
		if rt.Role == "" {
			continue
		}
		w := f.send(rt.Method, filled(frame.ContractPath(rt.Path), id), "{}", "Authorization", "Bearer server-wide")
		if refused := w.Code == http.StatusForbidden; refused == admitted[rt.Method+" "+rt.Path] {
			t.Errorf("%s %s: %d", rt.Method, rt.Path, w.Code)
		} else if refused && !strings.Contains(w.Body.String(), "key create --app") {
			t.Errorf("the refusal does not say which key to use: %s", w.Body)
		}
	}
}

func TestAuth_AppComesFromTheKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.issue("other", "other-app", memory.RoleWrite)
	mine := f.peanuts()
	theirs := fetch[writtenBody](f, 201, "POST", "/v1/memories", `{"user_id":"u","content":"Grows peanuts."}`,
		"Authorization", "Bearer other")
	stored, err := f.store.Memory(t.Context(), "other-app", theirs.ID)
	if err != nil || stored.Owner != (memory.Owner{AppID: "other-app", UserID: "u"}) {
		t.Errorf("%+v, %v", stored.Owner, err)
	}
	for secret, id := range map[string]string{"read": mine.ID, "other": theirs.ID} {
		got := fetch[recallBody](f, 200, "POST", "/v1/recall", `{"user_id":"u","query":"peanuts"}`, "Authorization",
			"Bearer "+secret)
		if len(got.Memories) != 1 || got.Memories[0].ID != id {
			t.Errorf("key %s recalls %+v, want %s alone", secret, got.Memories, id)
		}
	}
}

// lookups counts how often a key is looked up.
type lookups struct {
	frame.KeyFinder
	n int
}

func (l *lookups) KeyByHash(ctx context.Context, hash string) (memory.Key, error) {
	l.n++
	return l.KeyFinder.KeyByHash(ctx, hash)
}

func TestAuth_RevokedKeyEndsWithinItsCacheTime(t *testing.T) {
	t.Parallel()
	var keys lookups
	f := newFixture(t, func(o *Options) { keys.KeyFinder = o.Access.Keys; o.Access.Keys = &keys })
	for range 3 {
		f.want(200, "GET", "/v1/stats", "")
	}
	if keys.n != 1 {
		t.Errorf("%d lookups for 3 requests", keys.n)
	}
	f.must(f.store.RevokeKey(t.Context(), f.keyIDs["admin"], "", f.now()))
	f.advance(5 * time.Second)
	w := f.want(401, "GET", "/v1/stats", "")
	if !strings.Contains(w.Body.String(), "revoked") {
		t.Error(w.Body)
	}
}

func TestAuth_DevNeedsNoKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Access = frame.Access{Dev: true} })
	id := f.keep(ingest.Write{Owner: memory.Owner{AppID: frame.DevApp, UserID: "u"}, Content: "Grows peanuts."}).ID
	f.peanuts() // of another app
	const query = `{"user_id":"u","query":"peanuts"}`
	for _, host := range []string{"localhost:8080", "LOCALHOST", "127.0.0.1", "127.1.2.3:80", "[::1]:8080", "[::1]"} {
		got := fetch[recallBody](f, 200, "POST", "http://"+host+"/v1/recall", query, "Authorization", "")
		if len(got.Memories) != 1 || got.Memories[0].ID != id {
			t.Errorf("%s: %+v", host, got.Memories)
		}
	}
	for _, host := range []string{"example.com", "localhost.example.com:8080", "10.0.0.1"} { // names that lead here
		w := f.want(403, "POST", "http://"+host+"/v1/recall", query, "Authorization", "")
		if !strings.Contains(w.Body.String(), "localhost") {
			t.Errorf("%s: %s", host, w.Body)
		}
	}
}

func TestRates_LimitEachKeyAlone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Access.RateLimit = 0.5; o.Access.RateBurst = 2 })
	f.want(200, "GET", "/v1/stats", "")
	f.want(200, "GET", "/v1/stats", "")
	w := f.want(429, "GET", "/v1/stats", "")
	if got := w.Header().Get("Retry-After"); got != "2" {
		t.Errorf("Retry-After %q", got)
	}
	f.want(200, "GET", "/v1/stats", "", "Authorization", "Bearer read")
	f.want(200, "GET", "/healthz", "")
	f.advance(2 * time.Second)
	f.want(200, "GET", "/v1/stats", "")
	f.want(429, "GET", "/v1/stats", "")
}

func TestAccess_KeepsValidRequestIDs(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for id, kept := range map[string]bool{
		"abc-1": true, strings.Repeat("x", 128): true,
		"": false, strings.Repeat("x", 129): false, "tab\there": false, "ü": false,
	} {
		w := f.want(200, "GET", "/healthz", "", "X-Request-Id", id)
		if got := w.Header().Get("X-Request-Id"); (got == id) != kept || got == "" {
			t.Errorf("sent %q, got %q", id, got)
		}
	}
}

func TestAccess_LogHasNoContents(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.DebugLevel)
	f := newFixture(t, func(o *Options) { o.Logger = zap.New(core) })
	f.keep(ingest.Write{Owner: owner("SECRET"), Content: "SECRET"})
	f.accept("SECRET", "SECRET", "SECRET")
	f.want(200, "POST", "/v1/recall", `{"user_id":"SECRET","query":"SECRET"}`, "X-Request-Id", "r-7")
	f.want(200, "GET", "/v1/memories?user_id=SECRET", "")
	f.want(200, "GET", "/v1/turns/SECRET", "")
	f.want(400, "POST", "/v1/recall", `{"SECRET":1}`)
	f.want(404, "GET", "/SECRET", "")
	for _, line := range logs.All() {
		if strings.Contains(mustJSON(t, line.ContextMap())+line.Message, "SECRET") {
			t.Errorf("%+v", line.ContextMap())
		}
	}
	first := logs.FilterMessage("request").All()[0].ContextMap()
	if first["request_id"] != "r-7" || first["route"] != "/v1/recall" || first["app"] != "app" ||
		first["key"] != f.keyIDs["admin"] ||
		first["status"] != int64(200) || first["method"] != "POST" || first["bytes"].(int64) == 0 {
		t.Errorf("%+v", first)
	}
}

func TestMetrics_LabelsAreBounded(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	f := newFixture(t, func(o *Options) { o.Metrics.Registerer = registry })
	for _, name := range []string{"a", "b", "c"} {
		f.accept("u", name, "I moved to Lisbon.")
		f.want(200, "GET", "/v1/turns/"+name, "")
		f.want(404, "GET", "/"+name, "", "Host", name)
		f.want(405, strings.ToUpper(name), "/v1/turns", "")
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "hippocampus_http_requests_total" && len(family.GetMetric()) != 3 {
			t.Errorf("%d series, want 3: %v", len(family.GetMetric()), family.GetMetric())
		}
	}
	w := f.want(200, "GET", "/metrics", "", "Authorization", "")
	if !strings.Contains(w.Body.String(), `hippocampus_http_requests_total{code="200",method="GET",url="/v1/turn`+
		`s/:id"} 3`) {
		t.Error(w.Body)
	}
}
