package app

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"hippocampus/db/jobs"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/server/api"
	"hippocampus/vectorstore/projection"
	"hippocampus/vectorstore/reembed"
)

// startReembedding makes the space of the configured embedder the one that
// serves. The note for the banner is empty if no memory needs re-embedding.
func startReembedding(ctx context.Context, b base, record *database, s *spaces, sw *reembed.Switch,
	push *projection.Projection, maintenance *projection.Maintenance) (service *reembed.Service, note string, err error) {
	const lease = 10 * time.Second
	log := b.log.Named("reembedding")
	service = reembed.New(reembed.Parts{
		Records: record, Switch: sw, Maintenance: maintenance, SawUnembedded: push.SawUnembedded,
		Open: s.open, CanEmbed: s.canEmbed,
		RequestWork: func(ctx context.Context) error {
			_, err := jobs.EnqueueAt(ctx, record, api.Reembedding, memory.Instant(b.now().Truncate(lease)))
			return err
		},
		Now: b.now, Log: log,
	}, reembed.Settings{
		Interval: time.Second, Lease: lease, Slice: time.Minute,
		Page: 100, MaxRemaining: 100, KeepPrevious: 15 * time.Second,
		Backoff: pushRetryDelay, BackoffLimit: pushRetryLimit, Grace: b.cfg.Projection.Grace,
	})
	progress, err := service.Begin(ctx, llm.SpaceOf(s.configured))
	if err != nil {
		return nil, "", fmt.Errorf("read the serving embedding model: %w", err)
	}
	if progress.Serving != progress.Target {
		log.Info("memories are being re-embedded; recall uses the previous model until then",
			zap.String("from", progress.Serving.Model), zap.String("to", progress.Target.Model),
			zap.Int("memories", progress.Remaining))
		note = fmt.Sprintf("\n                %d memories are being re-embedded from %s, which serves until then",
			progress.Remaining, progress.Serving.Model)
	}
	b.life.run("reembedding", service.Run)
	return service, note, nil
}
