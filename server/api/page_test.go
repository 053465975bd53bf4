package api

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/server/frame"
)

type memoryList struct {
	Memories []wire.Memory
	Next     string `json:"next_cursor"`
}

// contents returns the contents of the memories that a query lists, newest first.
func (f *fixture) contents(query string) []string {
	f.t.Helper()
	var contents []string
	for _, m := range fetch[memoryList](f, 200, "GET", "/v1/memories"+query, "").Memories {
		contents = append(contents, m.Content)
	}
	return contents
}

// memoriesListed records the filter of the latest list.
type memoriesListed struct {
	MemoryReader
	filter db.MemoryFilter
}

func (l *memoriesListed) ListMemories(ctx context.Context, f db.MemoryFilter) ([]memory.Memory, error) {
	l.filter = f
	return l.MemoryReader.ListMemories(ctx, f)
}

// A page that may compare few memories ends early, and the next page continues there.
func TestMemories_ListExaminesAFewAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for i := range 7 {
		f.keep(ingest.Write{Owner: owner("u"), Content: strconv.Itoa(i), At: noon.Add(time.Duration(i-9) * time.Hour)})
	}
	pages := func(more string) (contents [][]string) {
		t.Helper()
		query := `?user_id=u&filter={"content":{"in":["6","1"]}}&limit=1` + more
		for cursor := ""; ; {
			list := fetch[memoryList](f, 200, "GET", "/v1/memories"+query+cursor, "")
			contents = append(contents, frame.BodiesOf(list.Memories, func(m wire.Memory) string { return m.Content }))
			if list.Next == "" {
				return contents
			}
			cursor = "&cursor=" + list.Next
		}
	}
	for more, want := range map[string][][]string{
		"":                                      {{"6"}, {"1"}, {}},
		"&examine=100":                          {{"6"}, {"1"}, {}},
		"&examine=3":                            {{"6"}, {}, {"1"}, {}},
		"&examine=2&as_of=2026-01-31T12:00:00Z": {{"6"}, {}, {}, {"1"}, {}},
		"&examine=3&since=2026-01-31T06:00:00Z": {{"6"}, {}, {}},
	} {
		if got := pages(more); !cmp.Equal(got, want) {
			t.Errorf("%s: %v, want %v", more, got, want)
		}
	}
	for _, refused := range []string{"0", "-1", "2.5", "1e3", "all", "1000001"} {
		f.wantPaths("GET", "/v1/memories?user_id=u&examine="+refused, "", "query.examine")
	}
}

func TestMemories_ListFilters(t *testing.T) {
	t.Parallel()
	var listed memoriesListed
	f := newFixture(t, func(o *Options) { listed.MemoryReader = o.Memories.Reader; o.Memories.Reader = &listed })
	since, until := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 1, 1, 23, 0, 0, 0, time.UTC)
	add := func(content string, change func(w *ingest.Write)) memory.Memory {
		w := ingest.Write{
			Owner: owner("u"), Content: content, Type: memory.TypeFact, Domain: memory.GeneralChat,
			ConversationID: "c", AgentID: "a", At: since,
		}
		if change != nil {
			change(&w)
		}
		return f.keep(w)
	}
	add("first", nil)
	add("task", func(w *ingest.Write) { w.Type, w.At = "task", since.Add(time.Hour) })
	forgotten := add("forgotten", func(w *ingest.Write) { w.At = until.Add(-time.Microsecond) })
	if _, err := f.service.Forget(t.Context(), "app", forgotten.ID, ingest.OfStatement); err != nil {
		t.Fatal(err)
	}
	add("skill", func(w *ingest.Write) { w.Type = "skill" })
	add("lifestyle", func(w *ingest.Write) { w.Domain = memory.Lifestyle })
	add("another conversation", func(w *ingest.Write) { w.ConversationID = "d" })
	add("another agent", func(w *ingest.Write) { w.AgentID = "b" })
	add("too early", func(w *ingest.Write) { w.At = since.Add(-time.Microsecond) })
	add("too late", func(w *ingest.Write) { w.At = until })
	add("another user", func(w *ingest.Write) { w.Owner.UserID = "v" })
	add("another app", func(w *ingest.Write) { w.Owner.AppID = "other-app" })

	const all = "?user_id=u&type=fact&type=task&domain=general_chat&status=active&status=forgotten" +
		"&conversation_id=c&agent_id=a&since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00%2B01:00&limit="
	want := db.MemoryFilter{
		Owner: owner("u"), Types: []memory.Type{"fact", "task"}, Domains: []memory.Domain{memory.GeneralChat},
		Statuses: []memory.Status{memory.Active,
			memory.Forgotten}, ConversationID: "c", AgentID: "a", Since: since, Until: until,
	}
	for limit, contents := range map[int][]string{1: {"forgotten"}, 9: {"forgotten", "task", "first"}} {
		if diff := cmp.Diff(contents, f.contents(all+strconv.Itoa(limit))); diff != "" {
			t.Error(diff)
		}
		want.Limit = limit
		if diff := cmp.Diff(want, listed.filter); diff != "" {
			t.Error(diff)
		}
	}
	if got := f.contents("?user_id=u"); len(got) != 8 || slices.Contains(got, "forgotten") {
		t.Errorf("%q", got)
	}
	want = db.MemoryFilter{Owner: owner("u"), Statuses: []memory.Status{memory.Active}, Limit: frame.DefaultPage}
	if diff := cmp.Diff(want, listed.filter); diff != "" {
		t.Error(diff)
	}
}

func TestPage_ChecksQueries(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
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
		f.wantPaths("GET", "/v1/memories?"+query, "", path)
	}
	f.wantPaths("GET", "/v1/turns?status=lost&limit=-1", "", "query.status", "query.limit")
	f.wantPaths("GET", "/v1/stats?verbose=1", "", "query.verbose")
}

func TestPage_CursorsVisitEachRowOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, content := range []string{"one", "two", "three"} { // at one instant, so the ids decide
		f.keep(ingest.Write{Owner: owner("u"), Content: content})
	}
	full := fetch[memoryList](f, 200, "GET", "/v1/memories?user_id=u&limit=2", "")
	if len(full.Memories) != 2 || full.Next == "" {
		t.Fatalf("%+v", full)
	}
	if at, fault := frame.ParseCursor("/v1/memories", full.Next, false); fault != "" ||
		at != (db.Position{At: noon, ID: full.Memories[1].ID}) {
		t.Errorf("%+v, %q", at, fault)
	}
	for _, other := range []string{"/v1/turns?user_id=u&", "/v1/conversations?user_id=u&", "/v1/users?"} {
		f.wantPaths("GET", other+"cursor="+full.Next, "", "query.cursor")
	}
	rest := fetch[memoryList](f, 200, "GET", "/v1/memories?user_id=u&limit=2&cursor="+full.Next, "")
	all := fetch[memoryList](f, 200, "GET", "/v1/memories?user_id=u&limit=4", "")
	if len(all.Memories) != 3 || all.Next != "" {
		t.Errorf("%+v", all)
	}
	if diff := cmp.Diff(all.Memories, slices.Concat(full.Memories, rest.Memories)); diff != "" || rest.Next != "" {
		t.Errorf("next %q, pages differ from the whole: %s", rest.Next, diff)
	}
	if w := f.want(200, "GET", "/v1/memories?user_id=nobody",
		""); strings.TrimSpace(w.Body.String()) != `{"memories":[]}` {
		t.Error(w.Body)
	}

	older, newer := f.accept("u", "", "one"), f.accept("u", "", "two")
	type list struct {
		Turns []turnBody
		Next  string `json:"next_cursor"`
	}
	page := fetch[list](f, 200, "GET", "/v1/turns?limit=1", "")
	if len(page.Turns) != 1 || page.Turns[0].ID != newer.ID {
		t.Errorf("%+v", page)
	}
	page = fetch[list](f, 200, "GET", "/v1/turns?limit=1&cursor="+page.Next, "")
	if len(page.Turns) != 1 ||
		page.Turns[0].ID != older.ID {
		t.Errorf("%+v", page)
	}
}

// The longest names that clients may choose fit in a cursor.
func TestPage_CursorsHoldLongestNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	instruction := strings.Repeat("🙂", memory.MaxInstructionName-1)
	skill := strings.Repeat("🙂", memory.MaxSkillName-1)
	conversation := strings.Repeat("c", memory.MaxIDBytes-1)
	for _, end := range []string{"a", "b"} {
		f.publish(`"scope":"app","name":"` + instruction + end + `","content":"x"`)
		f.want(200, "POST", "/v1/skills/"+skill+end+"/outcomes", `{"user_id":"u","workflow":"w","success":true}`)
		f.say("u", conversation+end, `{"role":"user","content":"x"}`)
	}
	for _, list := range []string{"/v1/instructions?scope=app", "/v1/skills?user_id=u", "/v1/conversations?user_id=u"} {
		page := fetch[struct {
			Next string `json:"next_cursor"`
		}](f, 200, "GET", list+"&limit=1", "")
		if page.Next == "" {
			t.Errorf("%s has no second page", list)
		}
		f.want(200, "GET", list+"&limit=1&cursor="+page.Next, "")
	}
}
