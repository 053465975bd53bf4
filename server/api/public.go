package api

import (
	"context"
	"net/http"
)

// publicHandlers serve the routes that need no key.
type publicHandlers struct {
	readiness *readiness
	scrape    http.Handler
	apart     bool // /metrics and /openapi.yaml are served elsewhere
}

func (h publicHandlers) register(r *routes) {
	r.add("GET /healthz", "", h.health)
	r.add("GET /readyz", "", h.ready)
	if !h.apart {
		r.add("GET /metrics", "", h.metrics)
		r.add("GET /openapi.yaml", "", h.openAPI)
	}
}

// documents serves /metrics and /openapi.yaml.
func documents(scrape http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", scrape)
	mux.HandleFunc("GET /openapi.yaml", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", openAPIMedia)
		_, _ = w.Write(openAPI) // fails only if the client has left
	})
	return mux
}

const openAPIMedia = "application/yaml"

// health answers as long as the process runs.
func (h publicHandlers) health(context.Context, *request) (any, error) {
	return map[string]string{"status": "ok"}, nil
}

// ready reports the parts. The reason of a failure goes to the log only, since the
// route needs no key.
func (h publicHandlers) ready(ctx context.Context, _ *request) (any, error) {
	parts := h.readiness.observe(ctx)
	status, overall := http.StatusOK, "ready"
	body := map[string]any{}
	for _, part := range parts {
		switch {
		case part.Err == nil:
		case part.required:
			status, overall = http.StatusServiceUnavailable, "unavailable"
		case status == http.StatusOK:
			overall = "degraded"
		}
		body[part.Name] = map[string]any{"status": part.Status(), "since": part.Since}
	}
	body["status"] = overall
	return answer{status, body}, nil
}

func (h publicHandlers) metrics(_ context.Context, r *request) (any, error) {
	h.scrape.ServeHTTP(r.Response(), r.Request())
	return nil, nil
}

func (h publicHandlers) openAPI(_ context.Context, r *request) (any, error) {
	return nil, r.Blob(http.StatusOK, openAPIMedia, openAPI)
}
