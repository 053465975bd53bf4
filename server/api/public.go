package api

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// publicHandlers serve the routes that need no key.
type publicHandlers struct {
	readiness *readiness
	scrape    http.Handler
	documents protocolDocuments
	apart     bool // /metrics and the documents of OpenAPI are served elsewhere
}

// protocolDocuments are the documents of other protocols than this API, by their names.
type protocolDocuments map[string][]byte

func protocolDocumentsOf(mounts []frame.Mount) protocolDocuments {
	documents := protocolDocuments{}
	for _, m := range mounts {
		if m.Document != nil {
			documents[m.DocumentName] = m.Document
		}
	}
	return documents
}

func (h publicHandlers) register(r *frame.Routes) {
	r.Add("GET /healthz", "", h.health)
	r.Add("GET /readyz", "", h.ready)
	if !h.apart {
		r.Add("GET /metrics", "", h.metrics)
		r.Add("GET /openapi.yaml", "", h.openAPI)
		r.Add("GET /openapi/:name", "", h.protocol)
	}
}

// documents serves /metrics, /openapi.yaml and the documents of other protocols.
func documents(scrape http.Handler, protocols protocolDocuments) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", scrape)
	serve := func(path string, document []byte) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", openAPIMedia)
			_, _ = w.Write(document) // fails only if the client has left
		})
	}
	serve("/openapi.yaml", openAPI)
	for name, document := range protocols {
		serve("/openapi/"+name, document)
	}
	return mux
}

const openAPIMedia = "application/yaml"

// health answers as long as the process runs.
func (h publicHandlers) health(context.Context, *frame.Request) (any, error) {
	return map[string]string{"status": "ok"}, nil
}

// ready reports the parts. The text of an error goes to the log only, since the route
// needs no key.
func (h publicHandlers) ready(ctx context.Context, _ *frame.Request) (any, error) {
	status, body := readinessOf(h.readiness.observe(ctx))
	return frame.WithStatus(status, body), nil
}

// readinessOf returns the state of the server and its parts as JSON shows it, and the status of /readyz.
func readinessOf(parts []Part) (status int, body map[string]any) {
	status, overall := http.StatusOK, "ready"
	body = map[string]any{}
	for _, part := range parts {
		switch {
		case part.Err == nil:
		case part.required:
			status, overall = http.StatusServiceUnavailable, "unavailable"
		case status == http.StatusOK:
			overall = "degraded"
		}
		state := map[string]any{"status": part.Status(), "since": part.Since}
		if reason := part.Reason(); reason != "" {
			state["reason"] = reason
		}
		body[part.Name] = state
	}
	body["status"] = overall
	return status, body
}

func (h publicHandlers) metrics(_ context.Context, r *frame.Request) (any, error) {
	h.scrape.ServeHTTP(r.Response(), r.Request())
	return nil, nil
}

func (h publicHandlers) openAPI(_ context.Context, r *frame.Request) (any, error) {
	return nil, r.Blob(http.StatusOK, openAPIMedia, openAPI)
}

func (h publicHandlers) protocol(_ context.Context, r *frame.Request) (any, error) {
	document, known := h.documents[r.PathValue("name")]
	if !known {
		return nil, memory.Errorf(memory.KindNotFound, "there is no such document: %s",
			strings.Join(slices.Sorted(maps.Keys(h.documents)), ", "))
	}
	return nil, r.Blob(http.StatusOK, openAPIMedia, document)
}
