package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"go.uber.org/zap"
)

const checkTimeout = 2 * time.Second

// Check asks one part of the server whether it serves.
type Check struct {
	Name     string // as /readyz shows it: "database", "vector_store"
	Required bool   // without it the server is not ready; else it is degraded
	// Check must return when ctx ends, which is after 2 s.
	Check func(ctx context.Context) error
}

// health answers while the process runs.
func (s *Server) health(_ context.Context, r *request) error {
	return r.JSON(http.StatusOK, map[string]string{"status": "ok"})
}

// ready asks every part at once. It tells nobody why a part is away: anybody
// may ask it, so that is in the log.
func (s *Server) ready(ctx context.Context, r *request) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	errs := make([]error, len(s.Checks))
	var asked sync.WaitGroup
	for i, check := range s.Checks {
		asked.Go(func() { errs[i] = check.Check(ctx) })
	}
	asked.Wait()

	status, overall := http.StatusOK, "ready"
	answer := map[string]any{}
	for i, check := range s.Checks {
		part := "ready"
		if errs[i] != nil {
			part = "away"
			s.Logger.Warn("a part is away", zap.String("part", check.Name), zap.Error(errs[i]))
			if check.Required {
				status, overall = http.StatusServiceUnavailable, "away"
			} else if status == http.StatusOK {
				overall = "degraded"
			}
		}
		answer[check.Name] = map[string]string{"status": part}
	}
	answer["status"] = overall
	return r.JSON(status, answer)
}
