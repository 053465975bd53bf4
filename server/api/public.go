package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"go.uber.org/zap"
)

const checkTimeout = 2 * time.Second

// Check reports whether a part of the server works.
type Check struct {
	Name     string // as /readyz shows it: "database", "vector_store"
	Required bool   // if it fails, the server is not ready; otherwise it is degraded
	// Check must return when ctx ends, which is after 2 s.
	Check func(ctx context.Context) error
}

// publicHandlers serve the routes that need no key.
type publicHandlers struct {
	checks []Check
	log    *zap.Logger
	scrape http.Handler
}

func (h publicHandlers) register(r *routes) {
	r.add("GET /healthz", "", h.health)
	r.add("GET /readyz", "", h.ready)
	r.add("GET /metrics", "", h.metrics)
	r.add("GET /openapi.yaml", "", h.openAPI)
}

// health answers as long as the process runs.
func (h publicHandlers) health(context.Context, *request) (any, error) {
	return map[string]string{"status": "ok"}, nil
}

// ready runs every check at once. The reason of a failure goes to the log only,
// since the route needs no key.
func (h publicHandlers) ready(ctx context.Context, _ *request) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	errs := make([]error, len(h.checks))
	var running sync.WaitGroup
	for i, check := range h.checks {
		running.Go(func() { errs[i] = check.Check(ctx) })
	}
	running.Wait()

	status, overall := http.StatusOK, "ready"
	body := map[string]any{}
	for i, check := range h.checks {
		part := "ready"
		if errs[i] != nil {
			part = "away"
			h.log.Warn("a part is unavailable", zap.String("part", check.Name), zap.Error(errs[i]))
			if check.Required {
				status, overall = http.StatusServiceUnavailable, "away"
			} else if status == http.StatusOK {
				overall = "degraded"
			}
		}
		body[check.Name] = map[string]string{"status": part}
	}
	body["status"] = overall
	return answer{status, body}, nil
}

func (h publicHandlers) metrics(_ context.Context, r *request) (any, error) {
	h.scrape.ServeHTTP(r.Response(), r.Request())
	return nil, nil
}

func (h publicHandlers) openAPI(_ context.Context, r *request) (any, error) {
	return nil, r.Blob(http.StatusOK, "application/yaml", openAPI)
}
