package api

import (
	"strings"

	"hippocampus/internal/lazyregexp"
)

// elsewhere lists paths that clients try because other servers have them or by habit, and what to use instead.
var elsewhere = []struct {
	path    *lazyregexp.Regexp
	instead string
}{
	{lazyregexp.New(`^/v1/(?:chat/completions|completions|responses|embeddings|models)\b`),
		"the OpenAI-compatible proxy is at /proxy/v1: set the client's base URL to it"},
	{lazyregexp.New(`^/v[23]/memories(?:/|$)|^/v1/memories/(?:search|[^/]+/)?$|` +
		`^/v1/(?:ping|entities|batch|event)\b|^/memories\b|^/(?:search|configure|reset)$`),
		"mem0's API is at /mem0: set the client's host to it"},
	{lazyregexp.New(`^/api/v[12]/(?:sessions|threads|graph|users|facts)\b`),
		"Zep's messages are POST /v1/turns with a conversation_id here, and its context is POST /v1/context"},
	{lazyregexp.New(`^/v1/[^/]+/banks\b`),
		"Hindsight's banks are users here: retain is POST /v1/turns, recall is POST /v1/recall, reflect is POST /v1/reflect"},
	{lazyregexp.New(`^/v[34]/(?:memories|documents|search|profile|conversations)\b`),
		"Supermemory's memories are POST /v1/memories here, its search is POST /v1/recall, and its profile is " +
			"GET /v1/users/{user_id}/profile"},
	{lazyregexp.New(`^/(?:sse|messages?|v1/mcp)/?$`), "MCP is at /mcp, as streamable HTTP"},
	{lazyregexp.New(`^/(?:v1/)?(?:search|query|retrieve)$`), "use POST /v1/recall"},
	{lazyregexp.New(`^/(?:v1/)?(?:add|messages|remember|write)$`),
		"use POST /v1/turns for messages and POST /v1/memories for one memory"},
}

// insteadOf returns what to use instead of a path that is no route: the advice of elsewhere, else an existing route
// that the path becomes below /v1 or without its /api or final slash, else "".
func insteadOf(path string, isRoute func(path string) bool) string {
	for _, other := range elsewhere {
		if other.path.MatchString(path) {
			return other.instead
		}
	}
	trimmed := strings.TrimSuffix(path, "/")
	for _, candidate := range []string{trimmed, "/v1" + trimmed, strings.TrimPrefix(trimmed, "/api")} {
		if candidate != path && isRoute(candidate) {
			return "use " + candidate
		}
	}
	return ""
}
