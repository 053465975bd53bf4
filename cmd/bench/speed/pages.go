package speed

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"

	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/target"
)

// pages are the requests of the console's screens, by their names.
func pages(
	ctx context.Context, server *target.Server, user string,
) (map[string]func(context.Context, int) error, error) {
	get := func(path string) func(context.Context, int) error {
		return func(ctx context.Context, _ int) error {
			_, err := server.Do(ctx, "GET", path, nil)
			return err
		}
	}
	list := "/v1/memories?limit=50&examine=10000&user_id=" + user // as the console asks
	filtered := func(filter string) func(context.Context, int) error {
		return get(list + "&filter=" + url.QueryEscape(filter))
	}
	var page struct {
		Memories []struct {
			ID string `json:"id"`
		} `json:"memories"`
		Next string `json:"next_cursor"`
	}
	body, err := server.Do(ctx, "GET", list, nil)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return nil, err
	}
	id := page.Memories[len(page.Memories)-1].ID
	memory := "/v1/memories/" + id
	conversation := converse(ctx, server, user)
	made, err := furnish(ctx, server, user, id)
	if err != nil {
		return nil, err
	}
	post := func(path string, body map[string]any) func(context.Context, int) error {
		return func(ctx context.Context, n int) error {
			body := maps.Clone(body)
			body["user_id"], body["query"] = user, content.Query(n%queries)
			_, err := server.Do(ctx, "POST", path, target.Body(body))
			return err
		}
	}
	requests := map[string]func(context.Context, int) error{
		"page: the counts of a user":         get("/v1/stats?user_id=" + user),
		"page: candidates":                   get("/v1/candidates?limit=50&user_id=" + user),
		"page: candidates by importance":     get("/v1/candidates/counts?user_id=" + user),
		"page: conversations":                get("/v1/conversations?user_id=" + user),
		"page: a conversation's log":         get("/v1/conversations/" + conversation + "?user_id=" + user),
		"page: a conversation's working set": get("/v1/conversations/" + conversation + "/working?user_id=" + user),
		"page: turns":                        get("/v1/turns?user_id=" + user),
		"page: facts":                        get("/v1/facts?user_id=" + user),
		"page: skills":                       get("/v1/skills?user_id=" + user),
		"page: a recall, explained": post("/v1/recall", map[string]any{
			"explain": true, "touch": false, "limit": 20,
		}),
		"page: a context":                     post("/v1/context", map[string]any{"touch": false}),
		"page: users":                         get("/v1/users"),
		"page: what is kept of a user":        get("/v1/users/" + user),
		"page: memories":                      get(list),
		"page: memories, the second page":     get(list + "&cursor=" + page.Next),
		"page: memories of a type and domain": get(list + "&type=fact&domain=lifestyle_and_interests"),
		"page: memories of an unused type":    get(list + "&type=skill"),
		"page: forgotten memories":            get(list + "&status=forgotten"),
		"page: memories of an agent":          get(list + "&agent_id=nobody"),
		"page: memories by metadata":          filtered(`{"metadata":{"source":"survey"}}`),
		"page: memories by a common word":     filtered(`{"content":{"icontains":"` + content.Word(1) + `"}}`),
		"page: memories by an unknown word":   filtered(`{"content":{"icontains":"xyzzy"}}`),
		"page: a memory":                      get(memory),
		"page: a memory's history":            get(memory + "/history"),
		"page: a memory's relations":          get(memory + "/relations"),
		"page: what is related to a memory":   get(memory + "/related?limit=8"),
		"page: a memory's retention":          get(memory + "/retention"),
		"page: what the next run forgets":     get("/v1/forget/next"),
		"page: what fades": func(ctx context.Context, _ int) error {
			_, err := server.Do(ctx, "POST", "/v1/forget", target.Body(map[string]any{"user_id": user, "limit": 100}))
			return err
		},
	}
	maps.Copy(requests, screens(user, made, get))
	return requests, nil
}

// talked is the number of turns that converse reports.
const talked = 50

// converse reports a conversation of the user, so that the lists of turns, candidates, facts and conversations have
// entries, and returns its id. A turn that the server refuses is left out, and the pages show fewer.
func converse(ctx context.Context, server *target.Server, user string) (id string) {
	id = "pages"
	for i := range talked {
		_, _ = server.Do(ctx, "POST", "/v1/turns", target.Body(map[string]any{
			"user_id": user, "conversation_id": id, "id": fmt.Sprint("pages-", i), "wait": true,
			"messages": []map[string]any{
				{"role": "user", "content": fmt.Sprintf("I work in room %d, and my locker has the number %d.", i, 1000+i)},
				{"role": "assistant", "content": "I will remember that."},
			},
		}))
	}
	return id
}
