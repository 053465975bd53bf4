package mem0

import "net/http"

// route is one entry of mem0's API.
type route struct {
	pattern string // a method, or *, and a path below /mem0, in which {} is an id and a final ... any further segments
	form    form
	handle  handler
}

// routes are searched in this order.
var routes = []route{
	{"GET v1/ping", v3, ping},
	{"POST v3/memories/add", v3, add},
	{"POST v1/memories", bare, add},
	{"POST v3/memories/search", v3, search},
	{"POST v2/memories/search", bare, search},
	{"POST v1/memories/search", bare, search},
	{"POST v3/memories", v3, list},
	{"POST v2/memories", bare, list},
	{"GET v1/memories", bare, list},
	{"DELETE v1/memories", v3, deleteAll},
	{"GET v1/memories/{}", v3, get},
	{"PUT v1/memories/{}", v3, update},
	{"DELETE v1/memories/{}", v3, remove},
	{"GET v1/memories/{}/history", v3, history},

	{"GET v1/entities", v3, listEntities},
	{"DELETE v2/entities/{}/{}", v3, deleteEntity},
	{"DELETE v1/entities/{}/{}", v3, deleteEntity},
	{"PUT v1/batch", v3, batchUpdate},
	{"DELETE v1/batch", v3, batchDelete},
	{"POST v1/feedback", v3, feedback},
	{"GET v1/event/{}", v3, oneEvent},
	{"GET v1/events", v3, events},

	{"POST memories", own, add},
	{"POST search", own, search},
	{"GET memories", own, list},
	{"DELETE memories", own, deleteAll},
	{"GET memories/{}", own, get},
	{"PUT memories/{}", own, update},
	{"DELETE memories/{}", own, remove},
	{"GET memories/{}/history", own, history},
	{"GET entities", own, listEntities},
	{"DELETE entities/{}/{}", own, deleteEntity},
	{"POST reset", own, reset},

	{"* v1/exports", v3, instead("GET /v1/export streams a user's memories")},
	{"* v1/exports/get", v3, instead("GET /v1/export streams a user's memories")},
	{"* v1/summary", v3, instead("POST /v1/context states what is known of a user")},
	{"* v2/profiles/...", v3, instead("GET /v1/facts has what is known of a user")},
	{"* v2/entities/{}/{}/profile", v3, instead("GET /v1/facts has what is known of a user")},
	{"* api/v1/webhooks/...", v3, instead("POST /v1/webhooks registers webhooks")},
	{"* api/v1/...", v3, instead("keys of `hippocampus key create --app APP` separate projects, and PUT /v1/policy has " +
		"what custom_instructions and custom_categories say")},
	{"* api-keys", own, instead("`hippocampus key create` makes keys")},
	{"* api-keys/...", own, instead("`hippocampus key create` makes keys")},
	{"* auth/...", own, instead("`hippocampus key create` makes keys")},
	{"* requests", own, instead("GET /v1/turns and GET /v1/recalls list requests")},
	{"* configure", own, instead("deploy/hippocampus.example.yaml lists the server's settings")},
	{"* configure/...", own, instead("deploy/hippocampus.example.yaml lists the server's settings")},
	{"* generate-instructions", own, instead("POST /v1/instructions publishes instructions")},
}

// instead returns a handler that refuses a route that is not offered, and names what to use instead.
func instead(what string) handler {
	return func(*call) (any, error) {
		return nil, refuse(http.StatusNotImplemented, "this part of mem0 is not offered here. Instead, "+what+".")
	}
}

func ping(c *call) (any, error) {
	return map[string]any{"status": "ok", "org_id": c.app, "project_id": c.app, "user_email": nil}, nil
}
