package speed

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"hippocampus/cmd/bench/target"
)

// screens are the requests of the console for what is no memory, by their names; furnish has made what they show.
func screens(
	user string, made furnished, get func(path string) func(context.Context, int) error,
) map[string]func(context.Context, int) error {
	of := "?user_id=" + user
	atLeast := strconv.FormatFloat(made.importance, 'f', 2, 64)
	below := strconv.FormatFloat(made.importance+0.01, 'f', 2, 64)
	requests := map[string]func(context.Context, int) error{
		"page: recalls":                   get("/v1/recalls" + of),
		"page: episodes":                  get("/v1/users/" + user + "/episodes?limit=20"),
		"page: documents":                 get("/v1/documents" + of),
		"page: a document":                get("/v1/documents/" + made.document),
		"page: the shared pool":           get("/v1/pool"),
		"page: the fields of a profile":   get("/v1/users/" + user + "/profile/fields?ask=false"),
		"page: proposals":                 get("/v1/proposals" + of),
		"page: turns scored again":        get("/v1/reprocessings" + of),
		"page: instructions":              get("/v1/instructions" + of + "&scope=user"),
		"page: an instruction's versions": get("/v1/instructions/tone/versions" + of + "&scope=user"),
		"page: a fact's history":          get("/v1/facts/history" + of + "&type=trip&key=city"),
		"page: a conversation's end":      get("/v1/conversations/" + ended + "/consolidations" + of),
		"page: jobs":                      get("/v1/jobs"),
		"page: the parts and their state": get("/v1/admin/state"),
		"page: versions of the policy":    get("/v1/policy/versions?limit=100"),
		"page: the settings of a user":    get("/v1/users/" + user + "/settings"),
		"page: candidates of the gate": get("/v1/candidates" + of + "&limit=50&verdict=" + made.verdict +
			"&min_importance=" + atLeast + "&max_importance=" + below),
	}
	if made.episode != "" {
		requests["page: an episode"] = get("/v1/users/" + user + "/episodes/" + made.episode)
	}
	return requests
}

// ended is a conversation that furnish reports and ends.
const ended = "pages-ended"

// furnished is what furnish has made.
type furnished struct {
	document, episode string // ids; there is no episode of memories that lie too far apart
	verdict           string // of a candidate
	importance        float64
}

// furnish makes an entry of each kind that screens shows. memory is one of the user's.
func furnish(ctx context.Context, server *target.Server, user, memory string) (made furnished, err error) {
	said := []map[string]any{{"role": "user", "content": "I moved to Lisbon."}}
	for _, request := range []struct {
		method, path string
		body         map[string]any
	}{
		{"PUT", "/v1/profile-schema", map[string]any{
			"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string", "x-attribute": "home"}},
		}},
		{"POST", "/v1/turns", map[string]any{"conversation_id": ended, "wait": true, "messages": said}},
		{"POST", "/v1/conversations/" + ended + "/end", map[string]any{"wait": true}},
		{"POST", "/v1/turns/reprocess", map[string]any{"scorer": "unused"}}, // it scores no turn again
		{"POST", "/v1/instructions", map[string]any{"scope": "user", "name": "tone", "content": "Answer briefly."}},
		{"PUT", "/v1/facts", map[string]any{"type": "trip", "key": "city", "value": "Lisbon"}},
		{"POST", "/v1/pool", map[string]any{"memory_id": memory}},
		{"POST", "/v1/recall", map[string]any{"query": "Where is the printer?"}}, // the log has it
		{"POST", "/v1/documents", map[string]any{
			"id": "pages.md", "content_type": "text/markdown", "content": "# Rooms\n\nThe printer is on the third floor.",
		}},
		{"POST", "/v1/users/" + user + "/episodes", nil},
	} {
		if request.body != nil && request.path != "/v1/profile-schema" {
			request.body["user_id"] = user
		}
		if _, err := server.Do(ctx, request.method, request.path, target.Body(request.body)); err != nil {
			return made, fmt.Errorf("%s: %w", request.path, err)
		}
	}
	var documents struct{ Documents []struct{ ID string } }
	var episodes struct{ Episodes []struct{ ID string } }
	var candidates struct {
		Candidates []struct {
			Verdict    string
			Importance float64
		}
	}
	for path, into := range map[string]any{
		"/v1/documents?user_id=" + user:           &documents,
		"/v1/users/" + user + "/episodes?limit=1": &episodes,
		"/v1/candidates?limit=1&user_id=" + user:  &candidates,
	} {
		body, err := server.Do(ctx, "GET", path, nil)
		if err != nil {
			return made, err
		}
		if err := json.Unmarshal(body, into); err != nil {
			return made, err
		}
	}
	if len(documents.Documents) == 0 || len(candidates.Candidates) == 0 {
		return made, fmt.Errorf("%d documents and %d candidates are found", len(documents.Documents),
			len(candidates.Candidates))
	}
	made.document = documents.Documents[0].ID
	made.verdict, made.importance = candidates.Candidates[0].Verdict, candidates.Candidates[0].Importance
	if len(episodes.Episodes) > 0 {
		made.episode = episodes.Episodes[0].ID
	}
	return made, nil
}
