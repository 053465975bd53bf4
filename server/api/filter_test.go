package api

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"hippocampus/ingest"
	"hippocampus/internal/memory/filter"
	"hippocampus/server/frame"
)

// Recall, contexts, lists and previews of forgetting choose the same memories.
func TestFilter_ChoosesMemories(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for i, metadata := range []string{
		`{"project":"atlas","n":1}`, `{"project":["pegasus","atlas"],"n":2}`, `{"n":3}`, ``,
	} {
		w := ingest.Write{Owner: owner("u"), Content: fmt.Sprint("tea ", i), Tags: []string{fmt.Sprint("t", i)}}
		if metadata != "" {
			w.Metadata = json.RawMessage(metadata)
		}
		f.keep(w)
	}
	for filter, want := range map[string][]string{
		`{"metadata":{"project":"atlas"}}`:                     {"tea 0", "tea 1"},
		`{"metadata":{"project":"atlas","n":{"gt":1}}}`:        {"tea 1"},
		`{"or":[{"metadata":{"n":3}},{"tags":{"in":["t0"]}}]}`: {"tea 0", "tea 2"},
		`{"not":{"metadata":{"n":{"lte":2}}}}`:                 {"tea 2", "tea 3"},
		`{"metadata":{"project":"hydra"}}`:                     {},
	} {
		check := func(route string, got []string) {
			t.Helper()
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s, %s: %q, want %q", route, filter, got, want)
			}
		}
		check("list", f.contents("?user_id=u&filter="+url.QueryEscape(filter)))
		check("list as of", f.contents("?user_id=u&as_of=2026-01-31T12:00:00Z&filter="+url.QueryEscape(filter)))
		content := func(m recalledBody) string { return m.Content }
		recalled := fetch[recallBody](f, 200, "POST", "/v1/recall", `{"user_id":"u","query":"tea","filter":`+filter+`}`)
		check("recall", frame.BodiesOf(recalled.Memories, content))
		check("context", frame.BodiesOf(f.contextOf(`"user_id":"u","query":"tea","filter":`+filter).Memories, content))
		dry := fetch[forgetBody](f, 200, "POST", "/v1/forget", `{"user_id":"u","filter":`+filter+`}`)
		check("forget", frame.BodiesOf(dry.Memories, func(m fadingBody) string { return m.Content }))
		if dry.Active != 4 {
			t.Errorf("%s: %d active memories, want all 4", filter, dry.Active)
		}
	}
}

func TestFilter_FaultsNameThePlace(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	deep := strings.Repeat(`{"not":`, filter.MaxDepth) + `{"tags":"a"}` + strings.Repeat(`}`, filter.MaxDepth)
	large := `{"content":"` + strings.Repeat("a", filter.MaxBytes-13) + `"}`
	for filter, path := range map[string]string{
		`{"metadata":{"n":{"above":1}}}`:     ".metadata.n.above",
		`{"and":[{"tags":"a"},{"user":1}]}`:  ".and[1].user",
		`{"tags":"a","tags":"b"}`:            ".tags",
		`{"metadata":{"n":{"gt":1,"gt":2}}}`: ".metadata.n.gt",
		`{"metadata":{"n\u0000":"x"}}`:       ".metadata",
		`{"metadata":{"n":1e-999}}`:          ".metadata.n",
		deep:                                 strings.Repeat(".not", filter.MaxDepth),
	} {
		f.wantPaths("POST", "/v1/recall", `{"user_id":"u","query":"q","filter":`+filter+`}`, "filter"+path)
		f.wantPaths("POST", "/v1/context", `{"user_id":"u","query":"q","filter":`+filter+`}`, "filter"+path)
		f.wantPaths("POST", "/v1/forget", `{"user_id":"u","filter":`+filter+`}`, "filter"+path)
		f.wantPaths("GET", "/v1/memories?user_id=u&filter="+url.QueryEscape(filter), "", "query.filter"+path)
	}
	for _, filter := range []string{`{}`, `[]`, `null`, `"a"`, large} {
		f.wantPaths("POST", "/v1/recall", `{"user_id":"u","query":"q","filter":`+filter+`}`, "filter")
		f.wantPaths("GET", "/v1/memories?user_id=u&filter="+url.QueryEscape(filter), "", "query.filter")
	}
	for _, filter := range []string{``, ` `, `{`, `{"tags":"a"}{}`, "{\"tags\":\"\xff\"}", `{"tags":"\ud800"}`,
		strings.Repeat("[", 8000)} {
		w := f.want(400, "GET", "/v1/memories?user_id=u&filter="+url.QueryEscape(filter), "")
		if errs := parse[frame.Problem](t, w).Errors; len(errs) != 1 || !strings.HasPrefix(errs[0].Path, "query.filter") {
			t.Errorf("%q: %s", filter, w.Body)
		}
	}
	f.wantPaths("POST", "/v1/forget", `{"user_id":"u","dry_run":false,"filter":{"tags":"a"}}`, "filter")
	f.wantPaths("GET", "/v1/memories?user_id=u&filter=1&filter=2", "", "query.filter")
}
