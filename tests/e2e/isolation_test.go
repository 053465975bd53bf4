package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "hippocampus/internal/rapidtest" // sets its flags
)

// hostileIDs try to break out of a filter, a path, a statement or a log.
var hostileIDs = []string{
	`"`, `'`, `\`, `\"`, `a" or user_id != "`, `a" || true || "`, `a' or '1'='1`, `'; drop table agent_memories; --`,
	`%`, `_`, `*`, `user_id in ["a","b"]`, `{"$ne":null}`, `../../etc/passwd`, `a/b`, `a?b=c&d`, `a#b`, `a b`, ` a`, `a `,
	"用户", "ユーザー", "пользователь", "مستخدم", "👩‍👩‍👧‍👦", "a\u202eb", "\u00e9", "e\u0301", "A", "a", "ａ",
	"user", "user-1", "user-10", "null", "undefined", "0", "-1", "1e9",
	strings.Repeat("x", 256), strings.Repeat("x", 255), strings.Repeat("界", 85),
}

// refusedIDs maps ids that are refused to a word of the reason.
var refusedIDs = map[string]string{
	"": "user_id", "a\x00b": "NUL", "a\nb": "control", "a\rb": "control", "a\tb": "control", "\x1b[31m": "control",
	"a\u0085b": "control", strings.Repeat("x", 257): "256", strings.Repeat("界", 86): "256",
}

func TestIsolation_UsersAreSeparate(t *testing.T) {
	onEachSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		ids := map[string]string{} // user -> memory
		for _, user := range hostileIDs {
			r := s.call("POST", "/v1/memories", object{"user_id": user, "content": "the vault code of " + user}, 201)
			ids[user] = r.body["id"].(string)
		}
		element := rapid.SampledFrom([]string{
			`"`,
			`\`,
			`'`,
			`|`,
			`&`,
			` or `,
			` and `,
			`==`,
			`!=`,
			` in [`,
			`]`,
			`(`,
			`)`,
			`%`,
			`user_id`,
			`true`,
			`a`,
			`界`,
			"é",
			`;`,
			`--`,
			`/*`,
		})
		rapid.Check(t, func(t *rapid.T) {
			user := rapid.OneOf(
				rapid.SampledFrom(hostileIDs),
				rapid.Custom(func(t *rapid.T) string {
					return strings.Join(rapid.SliceOfN(element, 1, 8).Draw(t, "pieces"), "")
				}),
			).Draw(t, "user")
			query := rapid.OneOf(rapid.Just("the vault code"), rapid.Map(rapid.SliceOfN(element, 1, 8),
				func(p []string) string { return "the vault code " + strings.Join(p, "") })).Draw(t, "query")
			r, err := s.try("POST", "/v1/recall", object{
				"user_id": user, "query": query, "limit": 100, "route": false,
				"agent_id": rapid.SampledFrom([]string{"", `a" or agent_id != "`, "agent"}).Draw(t, "agent"),
			})
			if err != nil || (r.status != http.StatusOK && r.status != http.StatusBadRequest) {
				t.Fatalf("%q as %q: %v %d %s", query, user, err, r.status, r.raw)
			}
			for _, m := range r.list("memories") {
				if m["user_id"] != user || m["id"] != ids[user] {
					t.Fatalf("%q sees %v", user, m)
				}
			}
			if mine, known := ids[user]; known && r.status == http.StatusOK &&
				!slices.ContainsFunc(r.list("memories"), func(m object) bool { return m["id"] == mine }) {
				t.Fatalf("%q does not see its own memory for %q: %s", user, query, r.raw)
			}
		})

		for user, why := range refusedIDs {
			for _, request := range []struct {
				path string
				body object
			}{
				{"/v1/recall", object{"user_id": user, "query": "x"}},
				{"/v1/memories", object{"user_id": user, "content": "x"}},
				{"/v1/turns", object{"user_id": user, "messages": []object{{"role": "user", "content": "x"}}}},
			} {
				r := s.call("POST", request.path, request.body, 400)
				if problems := r.list("errors"); len(problems) == 0 || !strings.Contains(problems[0]["path"].(string), "user_id") ||
					!strings.Contains(r.raw, why) {
					t.Errorf("%s with user %q: %s", request.path, user, r.raw)
				}
			}
		}
	})
}

// A key reaches only the memories of its own app, even if the client knows other ids.
func TestIsolation_AppsAreSeparate(t *testing.T) {
	onMainSizes(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		written := s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "the vault code is 1234"}, 201)
		id := written.body["id"].(string)
		accepted := s.call("POST", "/v1/turns", turn("ada", "I live in Oslo."), 200).body["id"].(string)
		before := s.call("GET", "/v1/memories/"+id, nil, 200).raw

		own := s.key
		s.key = s.createKey("--app", `other" or app_id != "`, "--role", "admin")
		for _, request := range []struct{ method, path string }{
			{"GET", "/v1/memories/" + id}, {"PATCH", "/v1/memories/" + id}, {"DELETE", "/v1/memories/" + id},
			{"GET", "/v1/memories/" + id + "/history"}, {"POST", "/v1/memories/" + id + "/restore"},
			{"GET", "/v1/turns/" + accepted}, {"POST", "/v1/turns/" + accepted + "/replay"},
		} {
			var body any
			if request.method == "PATCH" {
				body = object{"content": "mine now"}
			}
			s.call(request.method, request.path, body, 404)
		}
		if r := s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "the vault code", "route": false}, 200); len(
			r.list("memories")) != 0 {
			t.Errorf("another app recalls %s", r.raw)
		}
		if r := s.call("GET", "/v1/memories?user_id=ada", nil, 200); len(r.list("memories")) != 0 {
			t.Errorf("another app lists %s", r.raw)
		}
		if r := s.call("GET", "/v1/turns", nil, 200); len(r.list("turns")) != 0 {
			t.Errorf("another app lists turns %s", r.raw)
		}
		s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "the vault code is 9999"}, 201)
		s.key = own
		after := s.call("GET", "/v1/memories/"+id, nil, 200).raw
		if before != after {
			t.Errorf("the memory changed from %s to %s", before, after)
		}
		r := s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "the vault code", "route": false}, 200)
		if slices.Contains(contents(r.list("memories")), "the vault code is 9999") {
			t.Errorf("an app recalls another's: %s", r.raw)
		}
	})
}

func TestKeys_RolesLimitRequests(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		write := object{"user_id": "ada", "content": "x"}
		ask := object{"user_id": "ada", "query": "x"}
		reader, writer := s.createKey("--role", "read"), s.createKey("--role", "write")

		s.key = reader
		s.call("POST", "/v1/memories", write, 403)
		s.call("POST", "/v1/recall", ask, 200)
		s.key = writer
		s.call("POST", "/v1/memories", write, 201)
		for _, unknown := range []string{"", "hp_unknown", `" or true --`} {
			s.key = unknown
			s.call("POST", "/v1/recall", ask, 401)
		}

		s.key = writer
		s.command("key", "revoke", s.writeKey())
		eventually(t, "the revocation", func() string {
			if r := s.call("POST", "/v1/memories", write, 201, 401); r.status != 401 {
				return "the key still works"
			}
			return ""
		})
	})
}

// Hostile requests are answered with a client error, never with 500.
func TestAPI_BadInputIsNever500(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		long := strings.Repeat("字", 4097)
		messages := func(contents ...string) object {
			list := make([]object, len(contents))
			for i, content := range contents {
				list[i] = object{"role": "user", "content": content}
			}
			return object{"user_id": "a", "messages": list}
		}
		memories := slices.Repeat([]object{{"user_id": "a", "content": "x"}}, 1001)
		metadata := object{"k": strings.Repeat("x", 8200)}
		weights := object{"relevance": -1, "decay": 0, "importance": 0}
		for _, c := range []struct {
			method, path string
			body         any
			status       int
			field        string // that the problem names
		}{
			{"POST", "/v1/turns", `{`, 400, ""},
			{"POST", "/v1/turns", `[]`, 400, ""},
			{"POST", "/v1/turns", `{"user_id":"a"}`, 400, "messages"},
			{"POST", "/v1/turns", `{"user_id":"a","messages":[]}`, 400, "messages"},
			{"POST", "/v1/turns", `{"user_id":"a","messages":[{"role":"king","content":"x"}]}`, 400, "messages[0].role"},
			{"POST", "/v1/turns", `{"user_id":1,"messages":[{"role":"user","content":"x"}]}`, 400, "user_id"},
			{"POST", "/v1/turns", `{"user_id":"a","messages":[{"role":"user","content":"x"}],"colour":1}`, 400, "colour"},
			{"POST", "/v1/turns", `{"user_id":"a","messages":[{"role":"user","content":"x"}],"at":"yesterday"}`, 400, "at"},
			{"POST", "/v1/turns", messages(strings.Repeat("x", 65537)), 400, "messages[0].content"},
			{"POST", "/v1/turns", messages(slices.Repeat([]string{"x"}, 101)...), 400, "messages"},
			{"POST", "/v1/turns", strings.Repeat("x", 1<<20+1), 413, ""},
			{"POST", "/v1/memories", "{\"user_id\":\"\xff\",\"content\":\"x\"}", 400, ""},
			{"POST", "/v1/memories", object{"user_id": "a", "content": long}, 400, "content"},
			{"POST", "/v1/memories", object{"user_id": "a\x00b", "content": "x"}, 400, "user_id"},
			{"POST", "/v1/memories", object{"user_id": "a", "content": "  \n "}, 400, "content"},
			{"POST", "/v1/memories", object{"user_id": "a", "content": "x", "importance": 1.7}, 400, "importance"},
			{"POST", "/v1/memories", object{"user_id": "a", "content": "x", "importance": "high"}, 400, "importance"},
			{"POST", "/v1/memories", object{"user_id": "a", "content": "x", "domain": "sports"}, 400, "domain"},
			{"POST", "/v1/memories", object{"user_id": "a", "content": "x", "metadata": []int{1}}, 400, "metadata"},
			{"POST", "/v1/memories", object{"user_id": "a", "content": "x", "metadata": metadata}, 400, "metadata"},
			{"POST", "/v1/memories", object{"user_id": "a", "content": "x", "metadata": object{"a\x00b": "k"}}, 400, "metadata"},
			{"POST", "/v1/memories/batch", `{"memories":[]}`, 400, "memories"},
			{"POST", "/v1/memories/batch", object{"memories": memories}, 400, "memories"},
			{"POST", "/v1/recall", object{"user_id": "a", "query": ""}, 400, "query"},
			{"POST", "/v1/recall", object{"user_id": "a", "query": "x", "limit": 0}, 400, "limit"},
			{"POST", "/v1/recall", object{"user_id": "a", "query": "x", "limit": 1000000}, 400, "limit"},
			{"POST", "/v1/recall", object{"user_id": "a", "query": "x", "mode": "best"}, 400, "mode"},
			{"POST", "/v1/recall", `{"user_id":"a","query":"x","weights":{"relevance":1e999}}`, 400, ""},
			{"POST", "/v1/recall", object{"user_id": "a", "query": "x", "weights": weights}, 400, "weights.relevance"},
			{"POST", "/v1/context", object{"user_id": "a", "query": "x", "max_chars": 10, "max_tokens": 10}, 400, ""},
			{"GET", "/v1/memories", nil, 400, "user_id"},
			{"GET", "/v1/memories?user_id=a&cursor=%00", nil, 400, "cursor"},
			{"GET", "/v1/memories?user_id=a&since=soon", nil, 400, "since"},
			{"GET", "/v1/memories/not-an-id", nil, 404, ""},
			{"GET", "/v1/memories/00000000-0000-7000-8000-000000000000", nil, 404, ""},
			{"GET", "/v1/turns/%00", nil, 404, ""},
			{"GET", "/v1/turns?status=lost", nil, 400, "status"},
			{"GET", "/v2/memories", nil, 404, ""},
			{"PUT", "/v1/memories", nil, 405, ""},
		} {
			statuses := []int{c.status}
			if c.status == 404 {
				statuses = append(statuses, 400) // malformed ids
			}
			r := s.call(c.method, c.path, c.body, statuses...)
			if kind := r.header.Get("Content-Type"); !strings.HasPrefix(kind, "application/problem+json") ||
				r.body["request_id"] == "" {
				t.Errorf("%s %s: %s %s", c.method, c.path, kind, r.raw)
			}
			if c.field != "" &&
				!slices.ContainsFunc(r.list("errors"),
					func(e object) bool { return strings.Contains(e["path"].(string), c.field) }) {
				data, _ := json.Marshal(c.body)
				t.Errorf("%s %s with %.200s does not name %s: %s", c.method, c.path, data, c.field, r.raw)
			}
		}

		// A repeated client id returns the same turn or a conflict.
		first := object{"id": "turn-1", "user_id": "a", "messages": []object{{"role": "user", "content": "x"}}}
		id := s.call("POST", "/v1/turns", first, 202).body["id"]
		if again := s.call("POST", "/v1/turns", first, 200, 202); again.body["id"] != id {
			t.Errorf("the same turn again is %v, not %v", again.body["id"], id)
		}
		first["messages"] = []object{{"role": "user", "content": "y"}}
		s.call("POST", "/v1/turns", first, 409)
	})
}
