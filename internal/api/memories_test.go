package api

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/db"
	"hippocampus/internal/ingest"
	"hippocampus/internal/memory"
)

func TestPostMemoryHandsTheWriteOn(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.want(201, "POST", "/v1/memories", `{"user_id":"u","content":" 喜欢茶 ","importance":0,"domain":"user_preferences","type":"preference",
		"at":"2026-01-31T08:00:00Z","conversation_id":"c","agent_id":"a","tags":["x","y"],"metadata":{},"pinned":true,"dedup":true}`)
	zero := 0.0
	want := ingest.Write{
		Owner: memory.Owner{AppID: "app", UserID: "u"}, Content: " 喜欢茶 ", Importance: &zero, Domain: memory.Preferences, Type: "preference",
		At: time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC), ConversationID: "c", AgentID: "a", Tags: []string{"x", "y"},
		Metadata: []byte(`{}`), Pinned: true, Dedup: true,
	}
	if diff := cmp.Diff(want, b.write); diff != "" {
		t.Error(diff)
	}
	b.want(201, "POST", "/v1/memories", `{"user_id":"u","content":"c"}`)
	if diff := cmp.Diff(ingest.Write{Owner: want.Owner, Content: "c"}, b.write); diff != "" {
		t.Error(diff)
	}
	b.verdict = memory.Merged
	if body := parse[writtenBody](t, b.want(200, "POST", "/v1/memories", `{"user_id":"u","content":"c","dedup":true}`)); body.Verdict != memory.Merged || body.ID != someID {
		t.Errorf("%+v", body)
	}
}

func TestBatchAnswersEachWrite(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.batchErr = memory.Errorf(memory.KindUnavailable, "the embedder is away")
	two := `{"memories":[{"user_id":"u","content":"a"},{"user_id":"u","content":"b"}]}`
	body := parse[struct{ Results []resultBody }](t, b.want(200, "POST", "/v1/memories/batch", two))
	if len(body.Results) != 2 || body.Results[0].ID != someID || body.Results[0].Error != nil ||
		body.Results[1].ID != "" || body.Results[1].Error == nil || body.Results[1].Error.Status != 503 {
		t.Errorf("%+v", body)
	}
}

// What is wrong with one write refuses that one alone, with paths within it.
func TestBatchRefusesSingleWrites(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	answer := parse[struct{ Results []resultBody }](t, b.want(200, "POST", "/v1/memories/batch", `{"memories":[
		{"user_id":"u\n","content":" "}, {"user_id":"u","text":"b"}, {"user_id":"u","content":"a","importance":"high"},
		{"user_id":"u","content":"good"}, {"user_id":"u","content":"a","metadata":{"k":[1,{"l":2}]},"importance":1.7}, 7]}`))
	want := [][]string{{"content", "user_id"}, {"content", "text"}, {"importance"}, nil, {"importance"}, {"body"}}
	for i, result := range answer.Results {
		var paths []string
		if result.Error != nil {
			for _, field := range result.Error.Errors {
				paths = append(paths, field.Path)
			}
		}
		slices.Sort(paths)
		if !slices.Equal(paths, want[i]) || (result.Error == nil) != (result.ID == someID) {
			t.Errorf("write %d: paths %v, want %v: %+v", i, paths, want[i], result)
		}
	}
	if b.write.Content != "good" {
		t.Errorf("%q was written", b.write.Content)
	}
	b.wantPaths("POST", "/v1/memories/batch", `{"memories":[]}`, "memories")
	b.wantPaths("POST", "/v1/memories/batch", `{"memories":[`+strings.Repeat(`{"user_id":"u","content":"a"},`, 1000)+`{"user_id":"u","content":"a"}]}`, "memories")
}

func TestBatchBodyMayBeLarger(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.BodyLimit, o.BatchLimit = 200, 2000 })
	long := `{"user_id":"u","content":"` + strings.Repeat("x", 300) + `"}`
	b.want(413, "POST", "/v1/memories", long)
	b.want(200, "POST", "/v1/memories/batch", `{"memories":[`+long+`]}`)
	b.want(413, "POST", "/v1/memories/batch", `{"memories":[`+strings.Repeat(long+",", 6)+long+`]}`)
}

func TestPatchMemory(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.want(200, "PATCH", "/v1/memories/"+someID, `{"pinned":false,"tags":[],"metadata":{}}`)
	no, none, empty := false, []string{}, ingest.Change{}.Metadata
	if c := b.change; c.Pinned == nil || *c.Pinned != no || !cmp.Equal(*c.Tags, none) || c.Metadata == empty || string(*c.Metadata) != "{}" ||
		c.Content != nil || c.Importance != nil || c.Domain != nil || c.Type != nil {
		t.Errorf("%+v", c)
	}
	b.wantPaths("PATCH", "/v1/memories/"+someID, `{}`, "body")
	b.wantPaths("PATCH", "/v1/memories/"+someID, `{"content":"\t","tags":[" "],"importance":2}`, "importance")
	b.wantPaths("PATCH", "/v1/memories/"+someID, `{"content":"\t","tags":[" "]}`, "content", "tags")
	b.wantPaths("PATCH", "/v1/memories/"+someID, `{"user_id":"v","content":null}`, "user_id", "content")
}

func TestMemoryRoutes(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for _, route := range []string{"GET /v1/memories/%", "DELETE /v1/memories/%", "GET /v1/memories/%/history", "POST /v1/memories/%/restore"} {
		method, path, _ := strings.Cut(route, " ")
		b.want(200, method, strings.ReplaceAll(path, "%", someID), "")
		b.want(404, method, strings.ReplaceAll(path, "%", "nobody"), "")
		b.want(404, method, strings.ReplaceAll(path, "%", strings.ToUpper(someID)), "")
		b.want(400, method, strings.ReplaceAll(path, "%", "%00"), "")
		b.want(400, method, strings.ReplaceAll(path, "%", strings.Repeat("x", 257)), "")
	}
}

func TestListMemoriesFilters(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.want(200, "GET", "/v1/memories?user_id=u", "")
	want := db.MemoryFilter{Owner: memory.Owner{AppID: "app", UserID: "u"}, Statuses: []memory.Status{memory.Active}, Limit: defaultPage}
	if diff := cmp.Diff(want, b.list); diff != "" {
		t.Error(diff)
	}
	b.want(200, "GET", "/v1/memories?user_id=u&type=fact&type=task&domain=general_chat&status=active&status=forgotten"+
		"&conversation_id=c&agent_id=a&since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00%2B01:00&limit=1", "")
	want = db.MemoryFilter{
		Owner: want.Owner, Types: []memory.Type{"fact", "task"}, Domains: []memory.Domain{memory.GeneralChat},
		Statuses: []memory.Status{memory.Active, memory.Forgotten}, ConversationID: "c", AgentID: "a",
		Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 1, 1, 23, 0, 0, 0, time.UTC), Limit: 1,
	}
	if diff := cmp.Diff(want, b.list); diff != "" {
		t.Error(diff)
	}
}

func TestListQueriesAreChecked(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for query, path := range map[string]string{
		"":                          "query.user_id",
		"user_id=":                  "query.user_id",
		"user_id=%0a":               "query.user_id",
		"user_id=%ff":               "query.user_id",
		"user_id=u&user_id=v":       "query.user_id",
		"user_id=u&limit=0":         "query.limit",
		"user_id=u&limit=501":       "query.limit",
		"user_id=u&limit=ten":       "query.limit",
		"user_id=u&limit=1.5":       "query.limit",
		"user_id=u&limit=":          "query.limit",
		"user_id=u&type=poem":       "query.type[0]",
		"user_id=u&status=fact":     "query.status[0]",
		"user_id=u&since=yesterday": "query.since",
		"user_id=u&cursor=%21":      "query.cursor",
		"user_id=u&cursor=YWJj":     "query.cursor",
		"user_id=u&stauts=active":   "query.stauts",
		"user_id=u&agent_id=%00":    "query.agent_id",
		"user_id=u;limit=1":         "query",
		"user_id=%zz":               "query",
		"user_id=u&until=2026-01-01T00:00:00Z&since=2026-01-01T00:00:00Z": "query.until",
	} {
		b.wantPaths("GET", "/v1/memories?"+query, "", path)
	}
	b.wantPaths("GET", "/v1/turns?status=lost&limit=-1", "", "query.status", "query.limit")
	b.wantPaths("GET", "/v1/stats?verbose=1", "", "query.verbose")
}

func TestCursors(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.rows = 3
	type list struct {
		Memories []memoryBody
		Next     string `json:"next_cursor"`
	}
	full := parse[list](t, b.want(200, "GET", "/v1/memories?user_id=u&limit=2", ""))
	if len(full.Memories) != 2 || full.Next == "" {
		t.Fatalf("%+v", full)
	}
	b.want(200, "GET", "/v1/memories?user_id=u&limit=2&cursor="+full.Next, "")
	if b.list.Before == nil || *b.list.Before != (db.Position{At: noon, ID: someID}) {
		t.Errorf("%+v", b.list.Before)
	}
	if last := parse[list](t, b.want(200, "GET", "/v1/memories?user_id=u&limit=4", "")); len(last.Memories) != 3 || last.Next != "" {
		t.Errorf("%+v", last)
	}
	b.rows = 0
	if w := b.want(200, "GET", "/v1/memories?user_id=u", ""); strings.TrimSpace(w.Body.String()) != `{"memories":[]}` {
		t.Error(w.Body)
	}
}
