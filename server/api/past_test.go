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

func TestMemoriesAsTheyWere(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	began := b.now()
	tea := b.keep(ingest.Write{Owner: owner("u"), Content: "likes tea", Tags: []string{"drink"}})
	b.advance(time.Hour)
	b.want(200, "PATCH", "/v1/memories/"+tea.ID, `{"content":"likes green tea","tags":["drink","茶"],"importance":0.9}`)
	coffee := b.keep(ingest.Write{Owner: owner("u"), Content: "drinks coffee", At: began, Tags: []string{"drink"}})
	b.advance(time.Hour)
	b.want(200, "DELETE", "/v1/memories/"+tea.ID, "")
	ended := b.now()

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
		got := b.contents("?user_id=u&" + query)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	path := "/v1/memories/" + tea.ID + "?"
	was := parse[wire.Memory](t, b.want(200, "GET", path+asOf(first), ""))
	if was.Content != "likes tea" || was.Importance != ingest.DefaultImportance || !slices.Equal(was.Tags, []string{"drink"}) ||
		was.Status != memory.Active || !was.UpdatedAt.Equal(first) {
		t.Errorf("%+v", was)
	}
	if is := parse[wire.Memory](t, b.want(200, "GET", path+asOf(ended), "")); is.Status != memory.Forgotten || !is.UpdatedAt.Equal(ended) {
		t.Errorf("%+v", is)
	}
	b.want(404, "GET", "/v1/memories/"+coffee.ID+"?"+asOf(first), "")
	b.want(404, "GET", "/v1/memories/"+someID+"?"+asOf(first), "")
	for _, query := range []string{"as_of=yesterday", "as_of=1969-12-31T23:59:59Z", "as_of="} {
		b.want(400, "GET", path+query, "")
		b.want(400, "GET", "/v1/memories?user_id=u&"+query, "")
	}
	b.want(400, "GET", "/v1/memories?user_id=u&tag=", "")
	b.want(400, "GET", "/v1/memories?user_id=u&tag=%00", "")
}

func TestTagsChooseMemories(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	tea := b.keep(ingest.Write{Owner: owner("u"), Content: "likes tea", Tags: []string{"drink", "茶"}})
	b.keep(ingest.Write{Owner: owner("u"), Content: "likes tea with milk", Tags: []string{"drink"}})
	recalled := func(path string) []string {
		found := []string{}
		for _, m := range parse[recallBody](t, b.want(200, "POST", path, `{"user_id":"u","query":"tea","tags":["茶","drink"]}`)).Memories {
			found = append(found, m.ID)
		}
		return found
	}
	for _, path := range []string{"/v1/recall", "/v1/context"} {
		if got := recalled(path); !slices.Equal(got, []string{tea.ID}) {
			t.Errorf("%s: %q", path, got)
		}
		b.want(400, "POST", path, `{"user_id":"u","query":"tea","tags":[""]}`)
		b.want(400, "POST", path, `{"user_id":"u","query":"tea","tags":"茶"}`)
	}
	fading := parse[forgetBody](t, b.want(200, "POST", "/v1/forget", `{"user_id":"u","tags":["茶"]}`))
	if fading.Active != 2 || len(fading.Memories) != 1 || fading.Memories[0].ID != tea.ID {
		t.Errorf("%+v", fading)
	}
	b.want(400, "POST", "/v1/forget", `{"user_id":"u","tags":["茶"],"dry_run":false}`)
}
