package app

import (
	"context"
	"time"

	"go.uber.org/zap"

	"hippocampus/db/jobs"
	"hippocampus/forgetting"
	"hippocampus/reflection"
	"hippocampus/reflection/compression"
	"hippocampus/server/config"
)

// bySchedule is the cause of what upkeep changes when its time has come.
const bySchedule = "schedule"

// scheduled lists the upkeep of the whole server: one line a kind.
func scheduled(cfg config.Schedule, forget *forgetting.Service, reflect *reflection.Service, compress *compression.Service) []jobs.Maintenance {
	return []jobs.Maintenance{
		upkeepOf("reflection", cfg.Reflection, cfg.Timeout, reflect.ReflectAll),
		upkeepOf("compression", cfg.Compression, cfg.Timeout, compress.CompressAll),
		upkeepOf("forgetting", cfg.Forgetting, cfg.Timeout, func(ctx context.Context) (forgetting.Totals, error) { return forget.RunAll(ctx, bySchedule) }),
		upkeepOf("purge", cfg.Purge, cfg.Timeout, func(ctx context.Context) (n purged, err error) { n.Purged, err = forget.Purge(ctx, bySchedule); return }),
	}
}

// purged is the result of a purge.
type purged struct {
	Purged int `json:"purged"` // memories
}

// upkeepOf is one run over all users, whose result is shown with its job.
func upkeepOf[T any](kind, schedule string, timeout time.Duration, run func(ctx context.Context) (T, error)) jobs.Maintenance {
	return jobs.Maintenance{Kind: kind, Schedule: schedule, Timeout: timeout, Work: func(ctx context.Context, _ time.Time) (any, error) {
		return run(ctx)
	}}
}

// handlersOf works the upkeep, beside the jobs that have a payload.
func handlersOf(upkeep []jobs.Maintenance, others ...jobs.Handler) []jobs.Handler {
	for _, u := range upkeep {
		others = append(others, u.Handler())
	}
	return others
}

// kindsOf is which jobs admins may see.
func kindsOf(upkeep []jobs.Maintenance, others ...string) []string {
	for _, u := range upkeep {
		others = append(others, u.Kind)
	}
	return others
}

// startSchedule enqueues upkeep until shutdown.
func startSchedule(queue jobs.Enqueuer, upkeep []jobs.Maintenance, now func() time.Time, life *lifecycle, log *zap.Logger) error {
	scheduler, err := jobs.NewScheduler(queue, now, log.Named("schedule"), upkeep...)
	if err != nil {
		return err
	}
	life.run("schedule", scheduler.Run)
	return nil
}
