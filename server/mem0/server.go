// Package mem0 serves the API of mem0, so that its clients use this server with another host:
//
//	/mem0/v1, /v2, /v3     mem0's platform, as its MemoryClient calls it
//	/mem0/memories, ...    mem0's own server
//	request -> key (server/api) -> route -> requests to /v1 -> the answer in mem0's form
//
// It holds no rules of its own: every memory is read and changed by requests to /v1 as the key of the request. Body
// fields that mem0 does not document are ignored, as its clients add some with each release. A field that mem0
// documents and /v1 cannot honour is refused with a detail that names it. docs/connect/mem0.md compares every method.
package mem0

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"hippocampus/internal/memory"
	"hippocampus/server/frame"
	"hippocampus/server/loopback"
)

const prefix = "/mem0"

//go:embed openapi.yaml
var document []byte

// Mount returns the routes of mem0's API.
func Mount() frame.Mount {
	return frame.Mount{
		Path: prefix + "/*", Role: memory.RoleRead, Fail: fail, Document: document, DocumentName: "mem0.yaml",
		Open: func(v1 http.Handler) frame.MountHandler { return server{v1}.serve },
	}
}

type server struct{ v1 http.Handler }

// call is a request of a client.
type call struct {
	context.Context
	v1    http.Handler
	app   string // of the key
	user  string // whom the key is bound to, and whom a request need not name; may be empty
	path  string // without the trailing slash
	ids   []string
	query url.Values
	body  fields // nil if the method has no body
	form  form
}

// form is which of mem0's APIs a route belongs to.
type form int

const (
	v3   form = iota // objects
	bare             // v1 and v2: a list is in no object, unless output_format is v1.1
	own              // mem0's own server
)

// handler returns the value that is answered as JSON.
type handler func(c *call) (any, error)

// serve answers an admitted request.
func (s server) serve(w http.ResponseWriter, r *http.Request) error {
	answer, err := s.answer(w, r)
	var refused *loopback.Refusal
	switch {
	case errors.As(err, &refused):
		if wait := refused.Header.Get("Retry-After"); wait != "" {
			w.Header().Set("Retry-After", wait)
		}
		fail(w, refused.Status, refused.Problem)
		return nil
	case err != nil:
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(answer)
}

// answer finds the route of a request and calls its handler.
func (s server) answer(w http.ResponseWriter, r *http.Request) (any, error) {
	path := strings.TrimSuffix(strings.TrimPrefix(r.URL.EscapedPath(), prefix+"/"), "/")
	found, ids, allowed := find(r.Method, path)
	switch {
	case found == nil && len(allowed) > 0:
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		return nil, refuse(http.StatusMethodNotAllowed, "this route has other methods: "+strings.Join(allowed, ", "))
	case found == nil:
		return nil, refuse(http.StatusNotFound, "there is no such route under "+prefix+"/: docs/connect/mem0.md lists them")
	}
	key, _ := frame.KeyOf(r.Context())
	c := &call{
		Context: r.Context(), v1: s.v1, app: key.AppID, user: key.UserID, path: prefix + "/" + path, ids: ids,
		query: r.URL.Query(),
		form:  found.form,
	}
	var err error
	if c.body, err = bodyOf(r); err != nil {
		return nil, err
	}
	return found.handle(c)
}

// find returns the route of a method and a path, with the ids that the path names. If the path has only other methods,
// it returns these as allowed.
func find(method, path string) (found *route, ids, allowed []string) {
	segments := strings.Split(path, "/")
	for i := range routes {
		has, pattern, _ := strings.Cut(routes[i].pattern, " ")
		ids, ok := match(strings.Split(pattern, "/"), segments)
		switch {
		case !ok:
		case has == method || has == "*":
			return &routes[i], ids, nil
		case !slices.Contains(allowed, has):
			allowed = append(allowed, has)
		}
	}
	return nil, nil, allowed
}

// match returns the ids of the segments of a path that has a pattern.
func match(pattern, segments []string) (ids []string, ok bool) {
	for i, part := range pattern {
		if part == "..." {
			return ids, true
		}
		if i >= len(segments) {
			return nil, false
		}
		if part != "{}" {
			if part != segments[i] {
				return nil, false
			}
			continue
		}
		id, err := url.PathUnescape(segments[i])
		if err != nil || id == "" {
			return nil, false
		}
		ids = append(ids, id)
	}
	return ids, len(segments) == len(pattern)
}

// ask sends a request to /v1 as the key of the call.
func (c *call) ask(method, path string, body, into any) error {
	return loopback.Call(c, c.v1, method, path, body, into)
}
