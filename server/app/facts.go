package app

import (
	"context"
	"time"

	"hippocampus/db/jobs"
	"hippocampus/forgetting"
	"hippocampus/internal/llm"
	"hippocampus/knowledge/facts"
	"hippocampus/reflection"
	"hippocampus/router"
	"hippocampus/server/config"
)

// openFacts makes the service that keeps what is valid of users.
func openFacts(store *database, embedder llm.Embedder, pusher facts.Pusher, reflect *reflection.Service, forget *forgetting.Service, cfg config.Facts, now func() time.Time) *facts.Service {
	return facts.New(facts.Parts{
		Records: store, Embedder: embedder, Pusher: pusher, Guess: router.Guess, OnChanged: reflect.MemoriesChanged, OnAdded: forget.MemoriesAdded, Now: now,
	}, cfg.Trust)
}

// factsDue keeps the memories of facts in step with time.
func factsDue(cfg config.Schedule, know *facts.Service) jobs.Maintenance {
	return upkeepOf("facts", cfg.Facts, cfg.Timeout, func(ctx context.Context) (facts.Totals, error) { return know.RunDue(ctx, bySchedule) })
}
