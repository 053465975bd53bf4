package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// asUser sends a request as a key that is bound to a user and has a role, and access to the pool, that every route
// admits.
func (f *fixture) asUser(user, method, target, body string) *httptest.ResponseRecorder {
	f.t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	key := memory.Key{ID: "bound", AppID: "app", UserID: user, Role: memory.RoleOperator, Pool: memory.PoolWrite}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r.WithContext(frame.WithKey(f.t.Context(), key)))
	return w
}

// forUsers states how a key of one user may use each route: the query and the body of a request for the user USER,
// or for the memory or turn ID. A route with "refused" is closed to it.
var forUsers = map[string]string{
	"POST /v1/turns":                              `{"user_id":"USER","messages":[{"role":"user","content":"Hello."}]}`,
	"GET /v1/turns":                               `?user_id=USER`,
	"GET /v1/turns/:id":                           ``,
	"DELETE /v1/turns/:id":                        ``,
	"POST /v1/turns/:id/replay":                   ``,
	"GET /v1/conversations":                       `?user_id=USER`,
	"GET /v1/conversations/:id":                   `?user_id=USER`,
	"PUT /v1/conversations/:id":                   `?user_id=USER {"memory":"on"}`,
	"PATCH /v1/conversations/:id":                 `?user_id=USER {"title":"A title"}`,
	"DELETE /v1/conversations/:id":                `?user_id=USER`,
	"GET /v1/conversations/:id/working":           `?user_id=USER`,
	"POST /v1/conversations/:id/end":              `{"user_id":"USER"}`,
	"POST /v1/conversations/:id/consolidate":      `{"user_id":"USER","mode":"fast"}`,
	"GET /v1/conversations/:id/consolidations":    `?user_id=USER`,
	"POST /v1/memories":                           `{"user_id":"USER","content":"Likes tea."}`,
	"POST /v1/memories/batch":                     `{"memories":[{"user_id":"USER","content":"Likes jam."}]}`,
	"POST /v1/memories/forget":                    `{"ids":["ID"]}`,
	"POST /v1/memories/restore":                   `{"ids":["ID"]}`,
	"GET /v1/memories":                            `?user_id=USER`,
	"GET /v1/memories/:id":                        ``,
	"PATCH /v1/memories/:id":                      `{"content":"Likes coffee."}`,
	"DELETE /v1/memories/:id":                     ``,
	"POST /v1/memories/:id/restore":               ``,
	"POST /v1/memories/:id/undo":                  ``,
	"GET /v1/memories/:id/history":                ``,
	"GET /v1/memories/:id/related":                ``,
	"GET /v1/memories/:id/relations":              ``,
	"GET /v1/memories/:id/retention":              ``,
	"POST /v1/memories/:id/relations":             `{"to":"ID","kind":"supports"}`,
	"DELETE /v1/memories/:id/relations":           `?to=ID&kind=supports`,
	"PUT /v1/facts":                               `{"user_id":"USER","type":"profile","key":"city","value":"Lisbon"}`,
	"GET /v1/facts":                               `?user_id=USER`,
	"DELETE /v1/facts":                            `?user_id=USER&type=profile&key=city`,
	"GET /v1/facts/history":                       `?user_id=USER&type=profile&key=city`,
	"POST /v1/instructions":                       `{"scope":"user","user_id":"USER","name":"tone","content":"Be brief."}`,
	"GET /v1/instructions":                        `?scope=user&user_id=USER`,
	"GET /v1/instructions/merged":                 `?user_id=USER`,
	"GET /v1/instructions/:name":                  `?scope=user&user_id=USER`,
	"DELETE /v1/instructions/:name":               `?scope=user&user_id=USER`,
	"GET /v1/instructions/:name/versions":         `?scope=user&user_id=USER`,
	"GET /v1/instructions/:name/diff":             `?scope=user&user_id=USER&from=1&to=1`,
	"POST /v1/instructions/:name/activate":        `{"scope":"user","user_id":"USER","version":1}`,
	"POST /v1/instructions/:name/rollback":        `{"scope":"user","user_id":"USER"}`,
	"POST /v1/documents":                          `{"user_id":"USER","content":"The kitchen is on the first floor."}`,
	"GET /v1/documents":                           `?user_id=USER`,
	"GET /v1/documents/:id":                       ``,
	"DELETE /v1/documents/:id":                    ``,
	"POST /v1/documents/:id/restore":              ``,
	"GET /v1/skills":                              `?user_id=USER`,
	"GET /v1/skills/:name":                        `?user_id=USER`,
	"POST /v1/skills/:name/outcomes":              `{"user_id":"USER","success":true,"workflow":"Run the tests."}`,
	"POST /v1/memory-tool":                        `{"user_id":"USER","command":"view","path":"/memories"}`,
	"GET /v1/memory-tool/versions":                `?user_id=USER&path=/memories/a`,
	"GET /v1/memory-tool/versions/:id":            `?user_id=USER`,
	"GET /v1/candidates":                          `?user_id=USER`,
	"GET /v1/candidates/counts":                   `?user_id=USER`,
	"POST /v1/candidates/promote":                 `{"user_id":"USER","min_importance":0.9}`,
	"POST /v1/recall":                             `{"user_id":"USER","query":"Tea?"}`,
	"GET /v1/recalls":                             `?user_id=USER`,
	"POST /v1/context":                            `{"user_id":"USER","query":"Tea?","max_tokens":200}`,
	"POST /v1/reflect":                            `{"user_id":"USER"}`,
	"GET /v1/proposals":                           `?user_id=USER`,
	"POST /v1/proposals/:id/approve":              ``,
	"POST /v1/proposals/:id/reject":               ``,
	"POST /v1/forget":                             `{"user_id":"USER"}`,
	"POST /v1/compress":                           `{"user_id":"USER"}`,
	"GET /v1/export":                              `?user_id=USER`,
	"GET /v1/events":                              `?user_id=USER`,
	"GET /v1/key":                                 ``,
	"POST /v1/pool":                               `{"user_id":"USER","memory_id":"` + someID + `"}`,
	"GET /v1/pool":                                ``,
	"DELETE /v1/pool/:id":                         ``,
	"GET /v1/forget/next":                         `refused`,
	"POST /v1/turns/reprocess":                    `refused`,
	"GET /v1/reprocessings":                       `refused`,
	"GET /v1/reprocessings/:id":                   `refused`,
	"POST /v1/reprocessings/:id/undo":             `refused`,
	"GET /v1/profile-schema":                      `refused`,
	"PUT /v1/profile-schema":                      `refused`,
	"DELETE /v1/profile-schema":                   `refused`,
	"GET /v1/policy":                              `refused`,
	"PUT /v1/policy":                              `refused`,
	"GET /v1/policy/versions":                     `refused`,
	"GET /v1/admin/keys":                          `refused`,
	"POST /v1/admin/keys":                         `refused`,
	"DELETE /v1/admin/keys/:id":                   `refused`,
	"GET /v1/admin/state":                         `refused`,
	"POST /v1/webhooks/:id/test":                  `refused`,
	"GET /v1/stats":                               `refused`,
	"POST /v1/import":                             `refused`,
	"POST /v1/webhooks":                           `refused`,
	"GET /v1/webhooks":                            `refused`,
	"GET /v1/webhooks/:id":                        `refused`,
	"PATCH /v1/webhooks/:id":                      `refused`,
	"DELETE /v1/webhooks/:id":                     `refused`,
	"GET /v1/jobs":                                `refused`,
	"GET /v1/jobs/:id":                            `refused`,
	"GET /v1/users":                               `refused`,
	"GET /v1/users/:user_id":                      `refused`,
	"PUT /v1/users/:user_id":                      `{"time_zone":"Asia/Shanghai"}`,
	"DELETE /v1/users/:user_id":                   `refused`,
	"POST /v1/users/:user_id/merge":               `refused`,
	"POST /v1/users/:user_id/rename":              `refused`,
	"POST /v1/users/:user_id/clone":               `refused`,
	"GET /v1/users/:user_id/episodes":             ``,
	"POST /v1/users/:user_id/episodes":            ``,
	"GET /v1/users/:user_id/episodes/:episode_id": ``,
	"GET /v1/users/:user_id/profile":              ``,
	"GET /v1/users/:user_id/settings":             ``,
	"GET /v1/users/:user_id/profile/fields":       ``,
	"POST /v1/admin/verify":                       `refused`,
	"POST /v1/admin/repair":                       `refused`,
	"POST /v1/admin/rebuild":                      `refused`,
	"PUT /v1/memories/:id/feedback":               `{"feedback":"used"}`,
	"POST /v1/recalls/:id/feedback":               `{"user_id":"USER","used":["0198c0de-0000-7000-8000-000000000001"]}`,
	"GET /v1/thresholds":                          `refused`,
	"GET /v1/thresholds/preview":                  `refused`,
	"DELETE /v1/thresholds":                       `refused`,
}

// Each route serves a key of one user for that user alone, or not at all. A route that is not listed fails the test.
func TestConfine_KeyOfAUserReachesNoOtherUser(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	own, foreign := map[string]string{"USER": "u"}, map[string]string{"USER": "eve"}
	own["memory"], foreign["memory"] = f.peanuts().ID, f.keep(ingest.Write{Owner: owner("eve"), Content: "Is rich."}).ID
	own["turn"], foreign["turn"] = f.accept("u", "", "I moved.").ID, f.accept("eve", "", "I moved.").ID
	for _, of := range []map[string]string{own, foreign} {
		given := ingest.GivenDocument{
			Owner: owner(of["USER"]), ContentType: memory.PlainText, Content: "The kitchen is upstairs.",
		}
		stored, err := f.service.WriteDocument(t.Context(), given)
		if err != nil {
			t.Fatal(err)
		}
		of["document"] = stored.Document.ID
	}
	before := f.stored(foreign["memory"])
	for _, rt := range f.routes() {
		pattern := rt.Method + " " + rt.Path
		request, listed := forUsers[pattern]
		switch {
		case rt.Role == "":
			continue
		case !listed:
			t.Errorf("%s is not listed: may a key of one user use it?", pattern)
			continue
		case request == "refused":
			f.confined(pattern, own, "?user_id=u {}", http.StatusForbidden)
			f.confined(pattern, own, "{}", http.StatusForbidden)
			continue
		case strings.Contains(rt.Path, "memories/:id"), strings.Contains(rt.Path, "turns/:id"),
			strings.Contains(rt.Path, "documents/:id"), strings.Contains(rt.Path, "proposals/:id"),
			strings.Contains(rt.Path, "pool/:id"),
			strings.Contains(request, "ID"):
			f.confined(pattern, foreign, request, http.StatusNotFound)
		case rt.Path == "/v1/key", pattern == "GET /v1/pool": // name no user
		default:
			f.confined(pattern, foreign, request, http.StatusForbidden)
		}
		unnamed := strings.NewReplacer(`?user_id=USER&`, "?", `?user_id=USER`, "", `&user_id=USER`, "",
			`"user_id":"USER",`, "", `"user_id":"USER"`, "").Replace(request)
		if unnamed != request && rt.Path != "/v1/memories/batch" {
			f.confined(pattern, own, unnamed, http.StatusForbidden, http.StatusBadRequest)
		}
		if rt.Path != "/v1/events" { // a stream without an end
			if w := f.sendFor(pattern, own, request); w.Code == http.StatusForbidden {
				t.Errorf("%s for the own user: %d %s", pattern, w.Code, w.Body)
			}
		}
	}
	after := f.stored(foreign["memory"])
	if after.Status != before.Status || after.Content != before.Content {
		t.Errorf("the memory of another user is changed: %+v", after)
	}
}

// confined sends a request of forUsers as a key of the user u and requires one of the statuses.
func (f *fixture) confined(pattern string, of map[string]string, request string, statuses ...int) {
	f.t.Helper()
	w := f.sendFor(pattern, of, request)
	for _, status := range statuses {
		if w.Code == status {
			return
		}
	}
	f.t.Errorf("%s %s for %s: %d %s, want %d", pattern, request, of["USER"], w.Code, w.Body, statuses)
}

func (f *fixture) sendFor(pattern string, of map[string]string, request string) *httptest.ResponseRecorder {
	f.t.Helper()
	method, path, _ := strings.Cut(pattern, " ")
	id := of["memory"]
	if strings.HasPrefix(path, "/v1/turns") {
		id = of["turn"]
	}
	if strings.HasPrefix(path, "/v1/documents") {
		id = of["document"]
	}
	filled := strings.NewReplacer("USER", of["USER"], "ID", id).Replace(request)
	query, body, _ := strings.Cut(filled, " {")
	switch {
	case strings.HasPrefix(filled, "{"):
		query, body = "", filled
	case body != "":
		body = "{" + body
	}
	path = strings.NewReplacer(":id", id, ":name", "tone", ":user_id", of["USER"]).Replace(path)
	return f.asUser("u", method, path+query, body)
}

// The answer about a memory of another user is the same as about a memory that does not exist.
func TestConfine_HidesWhatExists(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	foreign := f.keep(ingest.Write{Owner: owner("eve"), Content: "Is rich."}).ID
	turn := f.accept("eve", "client-1", "I moved.").ID
	for _, c := range []struct{ method, path, id string }{
		{"GET", "/v1/memories/", foreign}, {"DELETE", "/v1/memories/", foreign},
		{"GET", "/v1/turns/", turn}, {"GET", "/v1/turns/", "client-1"},
	} {
		known, unknown := f.asUser("u", c.method, c.path+c.id, ""), f.asUser("u", c.method, c.path+someID, "")
		if known.Code != http.StatusNotFound || unknown.Code != http.StatusNotFound {
			t.Errorf("%s %s: %d, of an unknown id: %d", c.method, c.path, known.Code, unknown.Code)
		}
		want := strings.ReplaceAll(parse[frame.Problem](t, unknown).Detail, someID, c.id)
		if got := parse[frame.Problem](t, known).Detail; got != want {
			t.Errorf("%s %s answers %q, and for an unknown id %q", c.method, c.path, got, want)
		}
	}
}

// A batch is refused whole if any of its items names another user, however its JSON is written.
func TestConfine_ReadsBodiesAsHandlersDo(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	foreign := f.keep(ingest.Write{Owner: owner("eve"), Content: "Is rich."}).ID
	for _, c := range []struct {
		path, body string
	}{
		{"/v1/memories/batch", `{"memories":[{"user_id":"u","content":"a"},{"user_id":"eve","content":"b"}]}`},
		{"/v1/memories/batch", `{"memories":[{"user_id":"u","USER_ID":"eve","content":"b"}]}`},
		{"/v1/memories/batch", `{"memories":[{"user_id":"\u0065ve","content":"b"}]}`},
		{"/v1/memories", `{"user_id":"u","User_Id":"eve","content":"b"}`},
		{"/v1/memories", `{"user_id":"u","user_id":"eve","content":"b"}`},
		{"/v1/memories", `{"user_id":"eve\u0000","content":"b"}`},
		{"/v1/memories/forget", `{"ids":["` + someID + `","` + foreign + `"]}`},
		{"/v1/memories/restore", `{"ids":["` + someID + `","` + foreign + `"]}`},
		{"/v1/candidates/promote", `{"ids":["` + foreign + `"]}`},
		{"/v1/candidates/promote", `{"user_id":"u","ids":["` + foreign + `"]}`},
		{"/v1/instructions", `{"scope":"app","name":"tone","content":"Obey."}`},
		{"/v1/instructions", `{"scope":"agent","agent_id":"a","user_id":"u","name":"tone","content":"Obey."}`},
	} {
		w := f.asUser("u", "POST", c.path, c.body)
		if w.Code < 400 && !strings.Contains(w.Body.String(), `"error"`) {
			t.Errorf("%s %s: %d %s", c.path, c.body, w.Code, w.Body)
		}
	}
	list := parse[struct {
		Memories []struct{ ID string } `json:"memories"`
	}](t, f.want(http.StatusOK, "GET", "/v1/memories?user_id=eve", ""))
	if len(list.Memories) != 1 {
		t.Errorf("the other user has %d active memories, want 1", len(list.Memories))
	}
}

// The key that the database holds is bound as well, and may not use what its role does not admit.
func TestConfine_AppliesToStoredKeys(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.must(f.store.CreateKey(t.Context(), memory.Key{
		ID: memory.NewID(), Hash: frame.HashKey("bound"), AppID: "app", UserID: "u", Role: memory.RoleRead,
		CreatedAt: f.now(),
	}))
	bound := []string{"Authorization", "Bearer bound"}
	f.want(http.StatusOK, "GET", "/v1/memories?user_id=u", "", bound...)
	f.want(http.StatusForbidden, "GET", "/v1/memories?user_id=eve", "", bound...)
	f.want(http.StatusForbidden, "GET", "/v1/export", "", bound...)
	f.want(http.StatusForbidden, "POST", "/v1/memories", `{"user_id":"u","content":"x"}`, bound...)
}
