package app

import (
	"context"
	"time"

	"go.uber.org/zap"

	"hippocampus/db/jobs"
	"hippocampus/notify"
	"hippocampus/server/config"
)

// announcing is what tells the world outside.
type announcing struct {
	feed     *notify.Feed
	webhooks *notify.Webhooks
	deliver  jobs.Handler
	purge    jobs.Maintenance
}

// startAnnouncing looks for announcements until shutdown, for streams and for webhooks.
func startAnnouncing(store *database, cfg config.Config, now func() time.Time, life *lifecycle, log *zap.Logger) announcing {
	set := notifySettings(cfg)
	log = log.Named("announce")
	feed, sender := notify.NewFeed(store, set, log), notify.NewSender(store, set, now, log)
	life.onStop("deliveries", func(context.Context) error { sender.Close(); return nil })
	life.run("events", feed.Run)
	life.run("webhooks", notify.NewDispatcher(store, set, now, log).Run)
	return announcing{
		feed: feed, webhooks: notify.NewWebhooks(store, set, now), deliver: jobs.Handle(sender.Work),
		purge: upkeepOf("events", cfg.Schedule.Events, cfg.Schedule.Timeout, func(ctx context.Context) (notify.Purged, error) {
			return notify.Purge(ctx, store, now().Add(-set.Keep))
		}),
	}
}
