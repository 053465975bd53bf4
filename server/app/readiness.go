package app

import (
	"context"
	"sync"
	"time"

	"hippocampus/server/api"
)

const (
	// probeTimeout bounds how long the start waits for models that it can do without.
	probeTimeout = 2 * time.Second
	// observeInterval is the time between two observations of the parts.
	observeInterval = 5 * time.Second
)

// probe asks the endpoints that are not known to work.
func (m *models) probe(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	var probes sync.WaitGroup
	for _, part := range m.parts {
		if part.health.Err() != nil {
			probes.Go(func() { part.probe(ctx) })
		}
	}
	probes.Wait()
}

// checks lists the parts that /readyz shows. Parts within this process work.
func checks(s *stores, m *models) []api.Check {
	list := []api.Check{
		{Name: "database", Required: true, Check: s.record.Ping},
		{Name: "vector_store", Check: s.unguarded.Ping},
	}
	for _, name := range []string{"embedder", "scorer", "router"} {
		check := func(context.Context) error { return nil }
		for _, part := range m.parts {
			if part.name == name {
				check = func(context.Context) error { return part.health.Err() }
			}
		}
		list = append(list, api.Check{Name: name, Check: check})
	}
	for _, part := range m.parts {
		if part.name == "reranker" { // which is optional
			list = append(list, api.Check{Name: part.name, Check: func(context.Context) error { return part.health.Err() }})
		}
	}
	return list
}

// observeParts observes the parts at intervals, and probes models that do not work,
// until the shutdown.
func observeParts(b base, m *models, handler *api.Server) {
	b.life.run("readiness", func(ctx context.Context) {
		ticker := time.NewTicker(observeInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				m.probe(ctx)
				handler.Observe(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
}
