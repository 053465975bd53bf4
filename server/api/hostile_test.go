package api

import (
	"encoding/json"
	"hippocampus/internal/memory"
	"net/url"
	"strings"
	"testing"

	_ "hippocampus/internal/rapidtest" // sets its flags
	"hippocampus/server/frame"
	"pgregory.net/rapid"
)

func TestBody_MalformedIsInvalid(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	recorded := f.record()
	for body, path := range map[string]string{
		``:                                  "body",
		`   `:                               "body",
		`null`:                              "body",
		`[]`:                                "body",
		`"text"`:                            "body",
		`{`:                                 "body",
		`{"user_id"}`:                       "user_id",
		`{"user_id":"u","query":"q",}`:      "body",
		`{'user_id':'u'}`:                   "body",
		`{"user_id":"u","query":"q"}{}`:     "body",
		`{"user_id":"u","query":"q"} x`:     "body",
		"\ufeff" + aQuery:                   "body",
		"{\"user_id\":\"\xff\"}":            "body",
		`{"user_id":"\ud800"}`:              "body",
		`{"user_id":"\udc00\ud800"}`:        "body",
		`{"user_id":"a\u0000","query":"q"}`: "user_id",
		`{"a\u0000":1}`:                     "body",
		`{"user_id":"u","user_id":"v","query":"q"}`:                   "user_id",
		`{"user_id":"u","query":"q","weights":{"decay":1,"decay":1}}`: "weights.decay",
		`{"user_id":"u","query":"q","limit":1e999}`:                   "limit",
		`{"user_id":"u","query":"q","min_importance":1e-999}`:         "min_importance",
		`{"user_id":"u","query":"q","limit":NaN}`:                     "limit",
		`{"user_id":"u","query":"q","limit":01}`:                      "body",
		strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40):   strings.TrimSuffix(strings.Repeat("a.", 32), "."),
		strings.Repeat("[", 100_000):                                  strings.Repeat("[0]", 32),
	} {
		w := f.want(400, "POST", "/v1/recall", body)
		errs := parse[frame.Problem](t, w).Errors
		if len(errs) != 1 || errs[0].Path != path {
			t.Errorf("%.80q: %s, want %q", body, w.Body, path)
		}
	}
	f.want(200, "POST", "/v1/recall", `{"user_id":"u","query":"\uD83D\ude42 \\ud800 \/"}`)
	if recorded.query.Text != `🙂 \ud800 /` {
		t.Errorf("%q", recorded.query.Text)
	}
}

func TestCheck_FieldLimits(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	q := func(fields string) string { return `{"user_id":"u","query":"q",` + fields + `}` }
	turn := func(fields string) string { return strings.Replace(aTurn, "{", "{"+fields+",", 1) }
	write := func(fields string) string { return `{"user_id":"u","content":"c",` + fields + `}` }
	for _, c := range []struct {
		path, body string
		paths      []string
	}{
		{"/v1/recall", `{}`, []string{"user_id", "query"}},
		{"/v1/recall", `{"user_id":"","query":""}`, []string{"user_id", "query"}},
		{"/v1/recall", `{"user_id":" \u007f","query":" \t\n"}`, []string{"user_id", "query"}},
		{"/v1/recall", `{"user_id":5,"query":["q"]}`, []string{"user_id", "query"}},
		{"/v1/recall", q(`"limit":0,"mode":"best","min_importance":1.01,"min_similarity":-2,"min_confidence":2,"touch":"no"`),
			[]string{"limit", "mode", "min_importance", "min_similarity", "min_confidence", "touch"}},
		{"/v1/recall", q(`"limit":101`), []string{"limit"}},
		{"/v1/recall", q(`"limit":2.5`), []string{"limit"}},
		{"/v1/recall", q(`"limit":1e1`), []string{"limit"}},
		{"/v1/recall", q(`"domains":["fact"],"types":["fact","x"]`), []string{"domains[0]", "types[1]"}},
		{"/v1/recall", q(`"weights":{"relevance":-1,"decay":1}`), []string{"weights.relevance", "weights.importance"}},
		{"/v1/recall", q(`"weights":{"relevance":0,"decay":0,"importance":0}`), []string{"weights"}},
		{"/v1/recall", q(`"Limit":5,"touch":true,"unknown":{}`), []string{"Limit", "unknown"}},
		{"/v1/recall", q(`"at":"2026-02-30T00:00:00Z","since":"1969-12-31T23:59:59Z","until":"2201-01-01T00:00:00Z"`),
			[]string{"at", "since", "until"}},
		{"/v1/recall", q(`"at":"2026-01-01","since":1,"until":"now"`), []string{"at", "since", "until"}},
		{"/v1/recall", q(`"at":"2026-01-01T00:00:60Z"`), []string{"at"}},
		{"/v1/recall", q(`"since":"2026-01-02T00:00:00Z","until":"2026-01-01T00:00:00Z"`), []string{"until"}},
		{"/v1/recall", q(`"agent_id":"","conversation_id":"a\nb"`), []string{"agent_id"}},
		{"/v1/recall", q(`"agent_id":"a\u0085","conversation_id":"a\nb"`), []string{"agent_id", "conversation_id"}},
		{"/v1/turns", `{"user_id":"u","messages":[]}`, []string{"messages"}},
		{"/v1/turns", `{"user_id":"u","messages":[{"role":"robot","content":1,"x":2},{"role":"user"},"hi"]}`,
			[]string{"messages[0].role", "messages[0].content", "messages[0].x", "messages[2]"}},
		{"/v1/turns", `{"user_id":"u","messages":[` + strings.Repeat(`{"role":"user","content":""},`, 100) +
			`{"role":"user","content":""}]}`, []string{"messages"}},
		{"/v1/turns", `{"user_id":"u","messages":[{"role":"user","content":"` + strings.Repeat("é", 32769) +
			`","name":"a\tb"}]}`, []string{"messages[0].content", "messages[0].name"}},
		{"/v1/turns", turn(`"id":"` + strings.Repeat("é", 129) + `"`), []string{"id"}},
		{"/v1/turns", turn(`"metadata":[]`), []string{"metadata"}},
		{"/v1/turns", turn(`"metadata":null`), []string{"metadata"}},
		{"/v1/turns", turn(`"metadata":{"a":"` + strings.Repeat("x", 8192) + `"}`), []string{"metadata"}},
		{"/v1/turns", turn(`"metadata":{"a\u0000":["x"]}`), []string{"metadata"}},
		{"/v1/turns", turn(`"metadata":{"a":1e-2000000}`), []string{"metadata.a"}},
		{"/v1/turns", turn(`"wait":1`), []string{"wait"}},
		{"/v1/memories", write(`"importance":"high"`), []string{"importance"}},
		{"/v1/memories", write(`"importance":1.7,"domain":"love","type":"","pinned":0`),
			[]string{"importance", "domain", "type", "pinned"}},
		{"/v1/memories", write(`"tags":["a",""],"dedup":null`), []string{"tags[1]", "dedup"}},
		{"/v1/memories", write(`"tags":["` + strings.Repeat("x", 65) + `"]`), []string{"tags[0]"}},
		{"/v1/memories", `{"user_id":"u","content":"` + strings.Repeat("🙂", 4097) + `"}`, []string{"content"}},
	} {
		f.wantPaths("POST", c.path, c.body, c.paths...)
	}
}

// Values exactly at a limit are accepted, whatever their characters.
func TestCheck_LargestValuesAreAccepted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	long := strings.Repeat("🙂", 4096)
	id := strings.Repeat("é", 128)
	f.want(200, "POST", "/v1/recall", `{"user_id":"`+id+`","query":"`+long+`","limit":100}`)
	f.want(201, "POST", "/v1/memories", `{"user_id":"`+id+`","content":"`+long+`","tags":["`+strings.Repeat("长",
		64)+`"]}`)
	f.want(202, "POST", "/v1/turns", `{"id":"`+id+`","user_id":"u","messages":[`+
		strings.Repeat(`{"role":"user","content":""},`, 99)+`{"role":"tool","content":"`+strings.Repeat("x", 64<<10)+`"}],`+
		`"metadata":{"a": "`+strings.Repeat("x", 8192-8)+`"}}`)
}

func TestProblem_LimitsFieldErrors(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	w := f.want(400, "POST", "/v1/turns", `{"user_id":"u","messages":[`+strings.Repeat("{},", 99)+`{}]}`)
	if n := len(parse[frame.Problem](t, w).Errors); n != memory.MaxFields {
		t.Errorf("%d errors", n)
	}
}

// value draws any JSON value, with strings that are hard for parsers and stores.
func value() *rapid.Generator[any] {
	text := rapid.OneOf(
		rapid.StringN(0, 20, -1),
		rapid.SampledFrom([]string{"", "u", "\x00", "\n", `"`, "' or 1=1 --", `" or user_id != "`, "2026-01-01T00:00:00Z",
			"0000-01-01T00:00:00Z", "fact", "user", "modulated", someID, strings.Repeat("长", 300)}),
	)
	leaf := rapid.OneOf(
		rapid.Map(text, func(s string) any { return s }),
		rapid.Map(rapid.Float64(), func(f float64) any { return f }),
		rapid.Map(rapid.Int(), func(i int) any { return i }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Just[any](nil),
	)
	return rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(leaf, 0, 4), func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(text, leaf, 0, 4), func(m map[string]any) any { return m }),
	)
}

// No request of a client makes the server answer with a server error.
func TestServer_NoInputIsAServerError(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.work() // some requests wait
	f.peanuts()
	fields := []string{
		"user_id", "query", "content", "messages", "memories", "metadata", "limit", "at", "since", "until", "tags", "id",
		"wait",
		"weights", "mode", "domains", "types", "importance", "max_chars", "max_tokens", "language", "agent_id", "touch",
		"dedup",
	}
	routes := f.routes()
	for _, rt := range routes { // each route at least once; the rest draws routes at random
		f.send(rt.Method, strings.ReplaceAll(rt.Path, ":id", someID)+"?unknown=1", `{"user_id":`)
	}
	rapid.Check(t, func(t *rapid.T) {
		rt := rapid.SampledFrom(routes).Draw(t, "route")
		if rt.Path == "/metrics" {
			return
		}
		object := map[string]any{"user_id": "u"}
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(fields), 0, 5).Draw(t, "fields") {
			object[name] = value().Draw(t, name)
		}
		raw, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		if i := rapid.IntRange(0, 3*len(raw)).Draw(t, "broken at"); i < len(raw) {
			raw[i] = rapid.Byte().Draw(t, "byte")
		}
		target := strings.ReplaceAll(rt.Path, ":id", url.PathEscape(rapid.StringN(1, 8, -1).Draw(t, "id")))
		if query := rapid.MapOfN(rapid.SampledFrom(append(fields, "status", "cursor", "pretty")), rapid.String(), 0,
			3).Draw(t, "query"); len(query) > 0 {
			values := url.Values{}
			for name, v := range query {
				values.Set(name, v)
			}
			target += "?" + values.Encode()
		}
		if w := f.send(rt.Method, target, string(raw)); w.Code >= 500 {
			t.Fatalf("%s %s %q: %d %s", rt.Method, target, raw, w.Code, w.Body)
		}
	})
}
