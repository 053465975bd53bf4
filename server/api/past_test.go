package api

import (
	"net/url"
	"slices"
	"testing"
	"time"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
)

func asOf(at time.Time) string { return "as_of=" + url.QueryEscape(at.Format(time.RFC3339Nano)) }

func TestMemories_AsOf(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	began := f.now()
	tea := f.keep(ingest.Write{Owner: owner("u"), Content: "likes tea", Tags: []string{"drink"}})
	f.advance(time.Hour)
	f.want(200, "PATCH", "/v1/memories/"+tea.ID, `{"content":"likes green tea","tags":["drink","茶"],"importance":0.9}`)
	coffee := f.keep(ingest.Write{Owner: owner("u"), Content: "drinks coffee", At: began, Tags: []string{"drink"}})
	f.advance(time.Hour)
	f.want(200, "DELETE", "/v1/memories/"+tea.ID, "")
	ended := f.now()

	first, second := began, began.Add(time.Hour)
	for query, want := range map[string][]string{
		asOf(first):                                  {"likes tea"},
		asOf(second):                                 {"drinks coffee", "likes green tea"},
		asOf(second) + "&tag=茶":                      {"likes green tea"},
		asOf(second) + "&tag=drink&tag=茶":            {"likes green tea"},
		asOf(first) + "&tag=茶":                       {},
		asOf(second) + "&status=forgotten":           {},
		asOf(ended) + "&status=forgotten":            {"likes green tea"},
		asOf(ended.Add(time.Hour)):                   {"drinks coffee"},
		asOf(first.Add(-time.Microsecond)):           {},
		asOf(second) + "&since=2026-02-01T00:00:00Z": {},
		"tag=drink":                                  {"drinks coffee"},
	} {
		got := f.contents("?user_id=u&" + query)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	path := "/v1/memories/" + tea.ID + "?"
	was := fetch[wire.Memory](f, 200, "GET", path+asOf(first), "")
	if was.Content != "likes tea" || was.Importance != ingest.DefaultImportance ||
		!slices.Equal(was.Tags, []string{"drink"}) ||
		was.Status != memory.Active || !was.UpdatedAt.Equal(first) {
		t.Errorf("%+v", was)
	}
	if is := fetch[wire.Memory](f, 200, "GET", path+asOf(ended), ""); is.Status != memory.Forgotten ||
		!is.UpdatedAt.Equal(ended) {
		t.Errorf("%+v", is)
	}
	f.want(404, "GET", "/v1/memories/"+coffee.ID+"?"+asOf(first), "")
	f.want(404, "GET", "/v1/memories/"+someID+"?"+asOf(first), "")
	for _, query := range []string{"as_of=yesterday", "as_of=1969-12-31T23:59:59Z", "as_of="} {
		f.want(400, "GET", path+query, "")
		f.want(400, "GET", "/v1/memories?user_id=u&"+query, "")
	}
	f.want(400, "GET", "/v1/memories?user_id=u&tag=", "")
	f.want(400, "GET", "/v1/memories?user_id=u&tag=%00", "")
}

func TestMemories_ListByTags(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	tea := f.keep(ingest.Write{Owner: owner("u"), Content: "likes tea", Tags: []string{"drink", "茶"}})
	f.keep(ingest.Write{Owner: owner("u"), Content: "likes tea with milk", Tags: []string{"drink"}})
	recalled := func(path string) []string {
		found := []string{}
		for _, m := range fetch[recallBody](f, 200, "POST", path,
			`{"user_id":"u","query":"tea","tags":["茶","drink"]}`).Memories {
			found = append(found, m.ID)
		}
		return found
	}
	for _, path := range []string{"/v1/recall", "/v1/context"} {
		if got := recalled(path); !slices.Equal(got, []string{tea.ID}) {
			t.Errorf("%s: %q", path, got)
		}
		f.want(400, "POST", path, `{"user_id":"u","query":"tea","tags":[""]}`)
		f.want(400, "POST", path, `{"user_id":"u","query":"tea","tags":"茶"}`)
	}
	fading := fetch[forgetBody](f, 200, "POST", "/v1/forget", `{"user_id":"u","tags":["茶"]}`)
	if fading.Active != 2 || len(fading.Memories) != 1 || fading.Memories[0].ID != tea.ID {
		t.Errorf("%+v", fading)
	}
	f.want(400, "POST", "/v1/forget", `{"user_id":"u","tags":["茶"],"dry_run":false}`)
}
