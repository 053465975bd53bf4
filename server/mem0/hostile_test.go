package mem0_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestMount_FailsInTheFormOfMem0(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.refused(f.send("unknown", "GET", "/mem0/v1/ping/", nil), 401, "unknown")
	f.refused(f.send(f.read, "POST", "/mem0/v3/memories/add/", map[string]any{
		"messages": "I live in Lisbon.", "user_id": "ada",
	}), 403, "role write")
	f.refused(f.send(f.write, "POST", "/mem0/v3/memories/add/", strings.Repeat(" ", 2<<20)), 413, "over")
	many := `{"user_id":"ada","messages":[` + strings.Repeat("0,", 100_000) + `0]}`
	f.refused(f.send(f.write, "POST", "/mem0/v1/memories/", many), 400, "names and values")
	f.refused(f.send(f.write, "GET", "/mem0/v9/ping/", nil), 404, "no such route")
	f.refused(f.send(f.write, "GET", "/mem0/v1/memories/m%2F1/", nil), 404, "no memory with this id")
	a := f.send(f.write, "PATCH", "/mem0/v1/ping/", nil)
	f.refused(a, 405, "GET")
	same(t, "Allow", a.header.Get("Allow"), "GET")
	for path, instead := range map[string]string{
		"POST /mem0/v1/exports/":                                  "/v1/export",
		"POST /mem0/v1/exports/get/":                              "/v1/export",
		"POST /mem0/v1/summary/":                                  "/v1/context",
		"GET /mem0/v2/profiles/ada/":                              "/v1/facts",
		"GET /mem0/v2/entities/user/ada/profile/":                 "/v1/facts",
		"GET /mem0/api/v1/orgs/organizations/o/projects/p/":       "key create",
		"GET /mem0/api/v1/webhooks/projects/p/":                   "/v1/webhooks",
		"POST /mem0/configure":                                    "hippocampus.example.yaml",
		"GET /mem0/requests":                                      "/v1/turns",
		"POST /mem0/v1/memories/" + "00000000-0000-7000-8000-00/": "",
	} {
		method, path, _ := strings.Cut(path, " ")
		status := 501
		if instead == "" {
			status = 405
		}
		f.refused(f.send(f.write, method, path, map[string]any{}), status, instead)
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", f.url+"/mem0/search", strings.NewReader(`{"query":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-API-Key", f.read)
	f.refused(f.do(r), 415, "Content-Type")
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Body = http.NoBody
	f.refused(f.do(r), 400, "user_id is missing")
}

func TestMount_KeepsAppsAndUsersApart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.store("ada", "Lives in Lisbon.", map[string]any{"agent_id": "tutor", "run_id": "chat-1"})
	f.store("bob", "Likes tea.", nil)
	item := map[string]any{"memory_id": id, "text": "x"}
	for _, request := range []struct {
		method, path string
		body         any
	}{
		{"GET", "/mem0/v1/memories/" + id + "/", nil},
		{"GET", "/mem0/v1/memories/" + id + "/history/", nil},
		{"PUT", "/mem0/v1/memories/" + id + "/", map[string]any{"text": "x"}},
		{"DELETE", "/mem0/v1/memories/" + id + "/", nil},
		{"PUT", "/mem0/v1/batch/", map[string]any{"memories": []any{item}}},
		{"DELETE", "/mem0/v1/batch/", map[string]any{"memories": []any{item}}},
		{"POST", "/mem0/v1/feedback/", map[string]any{"memory_id": id, "feedback": "POSITIVE"}},
		{"GET", "/mem0/memories/" + id, nil},
		{"DELETE", "/mem0/memories/" + id, nil},
	} {
		f.refused(f.send(f.stranger, request.method, request.path, request.body), 404, "")
	}
	a := f.send(f.stranger, "GET", "/mem0/memories?user_id=ada", nil)
	same(t, "a list of another app", a.raw, `{"results":[]}`+"\n")
	a = f.send(f.stranger, "DELETE", "/mem0/v1/memories/?user_id=ada", nil)
	same(t, "delete_all of another app", a.object["message"], "Memories deleted successfully! (0)")
	f.refused(f.send(f.stranger, "GET", "/mem0/memories?user_id=ada&app_id=mine", nil), 400, "app_id is not the app")

	for _, hostile := range []string{
		`ada" or user_id == "ada`, `ada' OR '1'='1`, `ada"] or app_id in ["mine`, `ada\`, `ad%61`, `a%`, `%`, `_da`, "ada ",
		`{"$ne":null}`, `ada;--`, "ada\u200b", `*`, `ADA`, `../ada`, `ada/..`, strings.Repeat("a", 257), "a\u0000b", "a\nb",
	} {
		for name, filters := range map[string]any{
			"user":     map[string]any{"user_id": hostile},
			"agent":    map[string]any{"user_id": "bob", "agent_id": hostile},
			"run":      map[string]any{"user_id": "bob", "run_id": hostile},
			"category": map[string]any{"user_id": "bob", "categories": map[string]any{"contains": hostile}},
			"metadata": map[string]any{"user_id": "bob", "metadata": map[string]any{hostile: hostile}},
			"key":      map[string]any{"user_id": "bob", hostile: hostile},
			"operator": map[string]any{"user_id": "bob", "agent_id": map[string]any{hostile: "tutor"}},
			"text":     map[string]any{"user_id": "bob", "text": map[string]any{"contains": hostile}},
			"id":       map[string]any{"user_id": "bob", "memory_ids": []string{hostile, id}},
			"time":     map[string]any{"user_id": "bob", "created_at": map[string]any{"gte": hostile}},
			"either": map[string]any{"user_id": "bob", "OR": []any{
				map[string]any{"user_id": "ada"}, map[string]any{"run_id": hostile},
			}},
			"not":        map[string]any{"user_id": hostile, "NOT": map[string]any{"user_id": "ada"}},
			"everything": map[string]any{"OR": []any{map[string]any{"user_id": hostile}, map[string]any{"user_id": "bob"}}},
		} {
			for path, body := range map[string]map[string]any{
				"/mem0/v3/memories/":        {"filters": filters},
				"/mem0/v3/memories/search/": {"filters": filters, "query": "Where does she live?", "threshold": 0},
				"/mem0/search":              {"filters": filters, "query": hostile, "threshold": 0},
			} {
				a := f.send(f.write, "POST", path, body)
				if a.status != 200 && a.status != 400 || strings.Contains(a.raw, "Lisbon") {
					t.Errorf("%s %s %q: %d %s", path, name, hostile, a.status, a.raw)
				}
				if a.status == 400 {
					f.refused(a, 400, "")
				}
			}
		}
		quoted := url.PathEscape(hostile)
		for _, path := range []string{
			"GET /mem0/v1/memories/" + quoted + "/", "DELETE /mem0/v1/memories/" + quoted, "GET /mem0/v1/event/" + quoted,
			"GET /mem0/memories/" + quoted + "/history", "GET /mem0/memories?user_id=" + url.QueryEscape(hostile),
			"DELETE /mem0/v1/memories?run_id=chat-1&user_id=" + url.QueryEscape(hostile),
		} {
			method, path, _ := strings.Cut(path, " ")
			if a := f.send(f.write, method, path, nil); a.status >= 500 || strings.Contains(a.raw, "Lisbon") {
				t.Errorf("%s %s: %d %s", method, path, a.status, a.raw)
			}
		}
	}
	same(t, "the memory", f.found(map[string]any{"user_id": "ada"}), "Lives in Lisbon.")
}

func TestMount_RefusesMalformedBodies(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	deep := strings.Repeat(`{"AND":[`, 5000) + `{"user_id":"ada"}` + strings.Repeat(`]}`, 5000)
	nested := strings.Repeat(`[`, 20000) + strings.Repeat(`]`, 20000)
	for _, body := range []string{
		``, ` `, `null`, `[]`, `"x"`, `1`, `{`, `{"user_id":"ada"`, `{"user_id":"ada"} {}`, `{"filters":` + deep + `}`,
		`{"filters":` + nested + `}`, `{"messages":` + nested + `,"user_id":"ada"}`, "{\"user_id\":\"\xff\"}",
		`{"user_id":"\ud800"}`, `{"user_id":"ada","user_id":"bob","query":"x"}`, `{"user_id":{},"query":"x"}`,
		`{"filters":{"user_id":"ada","user_id":"bob"},"query":"x"}`, `{"filters":[],"query":"x"}`,
		`{"filters":{"user_id":"ada","agent_id":null},"query":"x"}`, `{"filters":{"AND":[]},"query":"x"}`,
		`{"filters":{"user_id":["ada"],"created_at":{"gte":1e300}},"query":"x"}`, `{"user_id":"ada","query":"x","top_k":101}`,
		`{"user_id":"ada","query":"x","top_k":1.5}`, `{"user_id":"ada","query":"x","threshold":"high"}`,
		`{"user_id":"ada","query":["x"],"messages":[{"role":"user"}]}`, `{"user_id":"ada","messages":[],"query":" "}`,
		`{"user_id":"ada","messages":[1],"metadata":[],"query":""}`, `{"memories":[{}],"memory_id":{}}`,
		`{"user_id":"ada","messages":"x","query":"x","metadata":{"k":"` + strings.Repeat("x", 9000) + `"}}`,
		`{"user_id":"ada","messages":[{"role":"user","content":"x","name":7}],"query":"` + strings.Repeat("x", 5000) + `"}`,
		`{"user_id":"ada","infer":false,"messages":[{"role":"user","content":{"type":"image_url"}}]}`,
		`{"user_id":"ada","infer":"no","messages":"x"}`, `{"user_id":"ada","messages":"x","expiration_date":"2030-02-30"}`,
	} {
		for _, path := range []string{
			"/mem0/v3/memories/add/", "/mem0/v3/memories/search/", "/mem0/memories", "/mem0/search", "/mem0/v1/feedback/",
		} {
			a := f.send(f.write, "POST", path, body)
			reads := strings.Contains(path, "search")
			if strings.Contains(body, `"query":"x"`) && !reads || strings.Contains(body, `"messages"`) && reads {
				if a.status >= 500 {
					t.Errorf("%s %.100s: %d %s", path, body, a.status, a.raw)
				}
				continue
			}
			if a.status != 400 {
				t.Errorf("%s %.100s: %d %.200s", path, body, a.status, a.raw)
			}
		}
	}
}
