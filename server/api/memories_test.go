package api

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
)

func TestMemories_PostWrites(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	full := `{"user_id":"u","content":" 喜欢茶 ","importance":0,"domain":"user_preferences","type":"preference",
		"at":"2026-01-31T08:00:00Z","conversation_id":"c","agent_id":"a",
		"tags":["x","y"],"metadata":{},"pinned":true,"dedup":true}`
	first := f.stored(fetch[writtenBody](f, 201, "POST", "/v1/memories", full).ID)
	morning := time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC)
	want := memory.Memory{
		ID: first.ID, Owner: owner("u"), Content: " 喜欢茶 ", Domain: memory.Preferences, Type: "preference",
		ConversationID: "c", AgentID: "a", Tags: []string{"x",
			"y"}, Metadata: []byte(`{}`), Pinned: true, Status: memory.Active,
		CreatedAt: morning, UpdatedAt: noon, LastAccessedAt: morning,
		Lexemes: first.Lexemes, EmbeddingModel: embedder.Model(), Revision: 1,
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Error(diff)
	}

	plain := `{"user_id":"u","content":"qqq"}`
	second := f.stored(fetch[writtenBody](f, 201, "POST", "/v1/memories", plain).ID)
	want = memory.Memory{
		ID: second.ID, Owner: owner("u"), Content: "qqq", Importance: ingest.DefaultImportance, Domain: memory.GeneralChat,
		Type:   memory.TypeFact,
		Status: memory.Active, CreatedAt: noon, UpdatedAt: noon, LastAccessedAt: noon,
		Lexemes: second.Lexemes, EmbeddingModel: embedder.Model(), Revision: 1,
	}
	if diff := cmp.Diff(want, second); diff != "" {
		t.Error(diff)
	}

	for _, c := range []struct {
		body    string
		verdict memory.Verdict
		id      string
	}{
		{full, memory.Duplicate, first.ID},
		{`{"user_id":"u","content":"喜欢茶！","agent_id":"a","dedup":true}`, memory.Merged, first.ID},
		{`{"user_id":"u","content":"qqq","dedup":true}`, memory.Duplicate, second.ID},
	} {
		if got := fetch[writtenBody](f, 200, "POST", "/v1/memories", c.body); got.Verdict != c.verdict || got.ID != c.id ||
			got.Reason == "" {
			t.Errorf("%s: %+v", c.body, got)
		}
	}
	if again := fetch[writtenBody](f, 201, "POST", "/v1/memories", plain); again.Verdict != memory.Kept ||
		again.ID == second.ID {
		t.Errorf("without dedup: %+v", again)
	}
}

func TestMemories_BatchAnswersEachWrite(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.service.Writer.Records = unwritable{f.service.Writer.Records, func(userID string) bool { return userID == "v" }}
	three := `{"memories":[{"user_id":"u"},{"user_id":"u","content":"a"},{"user_id":"v","content":"b"}]}`
	results := fetch[struct{ Results []resultBody }](f, 200, "POST", "/v1/memories/batch", three).Results
	if len(results) != 3 || results[0].Error == nil || results[0].Error.Status != 400 ||
		results[1].Error != nil || f.stored(results[1].ID).Content != "a" ||
		results[2].ID != "" || results[2].Error == nil || results[2].Error.Status != 503 {
		t.Errorf("%+v", results)
	}
	if got := f.contents("?user_id=v"); len(got) != 0 {
		t.Errorf("%q was written", got)
	}
}

// An invalid write is refused with paths within it, and does not affect the others.
func TestMemories_BatchRefusesSingleWrites(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	answer := fetch[struct{ Results []resultBody }](f, 200, "POST", "/v1/memories/batch", `{"memories":[
		{"user_id":"u\n","content":" "}, {"user_id":"u","text":"b"}, {"user_id":"u","content":"a","importance":"high"},
		{"user_id":"u","content":"good"}, {"user_id":"u","content":"a","metadata":{"k":[1,{"l":2}]},"importance":1.7}, 7]}`)
	want := [][]string{{"content", "user_id"}, {"content", "text"}, {"importance"}, nil, {"importance"}, {"body"}}
	for i, result := range answer.Results {
		var paths []string
		if result.Error != nil {
			for _, field := range result.Error.Errors {
				paths = append(paths, field.Path)
			}
		}
		slices.Sort(paths)
		if !slices.Equal(paths, want[i]) || (result.Error == nil) != (result.ID != "") {
			t.Errorf("write %d: paths %v, want %v: %+v", i, paths, want[i], result)
		}
	}
	if got := f.contents("?user_id=u"); !slices.Equal(got, []string{"good"}) {
		t.Errorf("%q was written", got)
	}
	f.wantPaths("POST", "/v1/memories/batch", `{"memories":[]}`, "memories")
	f.wantPaths("POST", "/v1/memories/batch", `{"memories":[`+strings.Repeat(`{"user_id":"u","content":"a"},`,
		1000)+`{"user_id":"u","content":"a"}]}`, "memories")
}

func TestMemories_BatchBodyMayBeLarger(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.limits.Body, o.limits.Batch = 200, 2000 })
	long := `{"user_id":"u","content":"` + strings.Repeat("x", 300) + `"}`
	f.want(413, "POST", "/v1/memories", long)
	f.want(200, "POST", "/v1/memories/batch", `{"memories":[`+long+`]}`)
	f.want(413, "POST", "/v1/memories/batch", `{"memories":[`+strings.Repeat(long+",", 6)+long+`]}`)
}

func TestMemories_Patch(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	want := f.peanuts()
	path := "/v1/memories/" + want.ID
	for _, c := range []struct {
		body   string
		change func(m *memory.Memory)
	}{
		{`{"pinned":false,"tags":[],"metadata":{}}`, func(m *memory.Memory) {
			m.Pinned = false
			m.Tags = nil
			m.Metadata = []byte(`{}`)
		}},
		{`{"content":" Eats nuts. ","importance":0,"domain":"lifestyle_and_interests","type":"task"}`,
			func(m *memory.Memory) {
				m.Content = " Eats nuts. "
				m.Importance = 0
				m.Domain = memory.Lifestyle
				m.Type = "task"
				m.Revision = 2
				m.LastSaidAt = f.now()
			}},
		{`{"pinned":true,"tags":["x"],"metadata":{"b": 2}}`, func(m *memory.Memory) {
			m.Pinned = true
			m.Tags = []string{"x"}
			m.Metadata = []byte(`{"b":2}`)
		}},
	} {
		f.advance(time.Minute)
		f.want(200, "PATCH", path, c.body)
		got := f.stored(want.ID)
		c.change(&want)
		want.UpdatedAt, want.Lexemes = f.now(), got.Lexemes
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", c.body, diff)
		}
	}
	f.wantPaths("PATCH", path, `{}`, "body")
	f.wantPaths("PATCH", path, `{"content":"\t","tags":[" "],"importance":2}`, "importance")
	f.wantPaths("PATCH", path, `{"content":"\t","tags":[" "]}`, "content", "tags")
	f.wantPaths("PATCH", path, `{"user_id":"v","content":null}`, "user_id", "content")
	if diff := cmp.Diff(want, f.stored(want.ID)); diff != "" {
		t.Errorf("a refused change changed the memory: %s", diff)
	}
}

func TestMemories_RoutesOfOneMemory(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	id := f.peanuts().ID
	for _, c := range []struct {
		route  string
		status memory.Status // afterwards
		events int           // afterwards
	}{
		{"GET /v1/memories/%", memory.Active, 1},
		{"DELETE /v1/memories/%", memory.Forgotten, 2},
		{"GET /v1/memories/%/history", memory.Forgotten, 2},
		{"POST /v1/memories/%/restore", memory.Active, 3},
	} {
		method, path, _ := strings.Cut(c.route, " ")
		w := f.want(200, method, strings.ReplaceAll(path, "%", id), "")
		if body := parse[wire.Memory](t, w); !strings.HasSuffix(path, "/history") &&
			(body.ID != id || body.Status != c.status) {
			t.Errorf("%s: %+v", c.route, body)
		}
		history := fetch[struct{ Events []wire.Event }](f, 200, "GET", "/v1/memories/"+id+"/history", "")
		if got := f.stored(id).Status; got != c.status || len(history.Events) != c.events {
			t.Errorf("%s leaves it %s with %d events, want %s with %d", c.route, got, len(history.Events), c.status, c.events)
		}
		f.want(404, method, strings.ReplaceAll(path, "%", "nobody"), "")
		f.want(404, method, strings.ReplaceAll(path, "%", strings.ToUpper(id)), "")
		f.want(400, method, strings.ReplaceAll(path, "%", "%00"), "")
		f.want(400, method, strings.ReplaceAll(path, "%", strings.Repeat("x", 257)), "")
	}
}
