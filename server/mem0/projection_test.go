package mem0_test

import (
	"maps"
	"slices"
	"testing"
)

func TestMemories_HaveTheFieldsThatARequestNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.store("ada", "Likes tea.", map[string]any{"metadata": map[string]any{"n": 1}})
	const list, search = "/mem0/v3/memories/", "/mem0/v3/memories/search/"
	with := func(more map[string]any) map[string]any {
		body := map[string]any{"query": "tea", "filters": map[string]any{"user_id": "ada"}}
		maps.Copy(body, more)
		return body
	}
	names := func(a reply) []string {
		return slices.Sorted(maps.Keys(field(t, a.object, "results", 0).(map[string]any)))
	}
	two := with(map[string]any{"fields": []string{"memory", "metadata"}})
	same(t, "list", names(f.want("POST", list, two)), []string{"id", "memory", "metadata"})
	same(t, "search", names(f.want("POST", search, two)), []string{"id", "memory", "metadata"})
	same(t, "score", names(f.want("POST", search, with(map[string]any{"fields": "score"}))), []string{"id", "score"})
	all := with(map[string]any{"fields": []string{}, "latest_only": true, "show_expired": true})
	same(t, "all of a list", len(names(f.want("POST", list, all))), 13)
	same(t, "all of a search", len(names(f.want("POST", search, all))), 15)
	older := f.want("GET", "/mem0/v1/memories/?user_id=ada&fields=memory,type", nil).list
	same(t, "in a query", older[0].(map[string]any)["type"], "fact")
	same(t, "in a query", len(older[0].(map[string]any)), 3)
	own := f.want("GET", "/mem0/memories?user_id=ada&show_expired=false&latest_only=True", nil)
	same(t, "flags in a query", len(names(own)), 13)
	f.refused(f.send(f.write, "GET", "/mem0/v1/memories/?user_id=ada&latest_only=false", nil), 400, "latest_only")

	for _, path := range []string{list, search} {
		for name, value := range map[string]any{
			"latest_only": false, "show_expired": "maybe", "fields": []any{"memory", "embedding"},
		} {
			f.refused(f.send(f.write, "POST", path, with(map[string]any{name: value})), 400, name)
		}
		f.refused(f.send(f.write, "POST", path, with(map[string]any{"fields": []any{7}})), 400, "fields[0]")
	}
}
