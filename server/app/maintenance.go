package app

import (
	"context"
	"time"

	"go.uber.org/zap"

	"hippocampus/conversation/consolidation"
	"hippocampus/conversation/session"
	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/forgetting"
	"hippocampus/forgetting/erasure"
	"hippocampus/ingest"
	"hippocampus/ingest/write"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/facts"
	"hippocampus/notify"
	"hippocampus/recall"
	"hippocampus/reflection"
	"hippocampus/reflection/compression"
	"hippocampus/reflection/episodes"
	"hippocampus/server/api"
)

// maintenance is the work that no request waits for.
type maintenance struct {
	compression   *compression.Service
	erasure       *erasure.Service
	notifications notifications
	jobKinds      []string // that keys may see
	scheduler     *jobs.Scheduler
}

func openMaintenance(ctx context.Context, b base, s *stores, m *models, r *reading, w *writing) (*maintenance, error) {
	mt := &maintenance{
		compression: compression.New(compression.Parts{
			Records: s.record, Derive: w.derivation, Episodes: w.episodes, Chat: m.chat, Zone: s.zones.Of,
			Rule: func(ctx context.Context, owner memory.Owner) (compression.Rule, error) {
				return w.forgetting.RuleFor(ctx, owner)
			},
			Now: b.now, Log: b.log.Named("compression"),
		}, compressionSettings(b.cfg)),
		notifications: startNotifications(b, s.record),
		// The caches do not know whose text they hold, so an erasure purges them all.
		erasure: erasure.New(s.record, s.vectors, func(memory.Owner) {
			w.ingest.Purge()
			r.recall.Purge()
			r.profiles.Purge()
			r.condenser.Purge()
			r.injected.Purge()
			w.session.Purge()
			s.zones.Purge()
		}, b.now, b.log.Named("erasure")),
	}
	mt.erasure.OnMoved, mt.erasure.Disown = r.recall.MemoriesAdded, w.ingest.Disown
	mt.erasure.OrphanPooled = orphansPooled(b.cfg)
	scheduled := mt.scheduled(b, s, w)
	timeout := b.cfg.Jobs.Timeout
	handlers := []jobs.Handler{
		jobs.Handle(w.ingest.RunLegacyJob),
		jobs.HandleResult(timeout, w.writer.WorkAgain),
		jobs.HandleResult(timeout, w.ingest.WorkReprocess),
		jobs.HandleResult(timeout, w.reflection.Work),
		jobs.HandleResult(timeout, w.episodes.Work),
		jobs.HandleResult(timeout, w.session.Work),
		jobs.HandleResult(timeout, w.consolidation.Work),
		jobs.Handle(mt.notifications.sender.Work),
		jobs.HandleResult(b.cfg.Schedule.Timeout, mt.erasure.Work),
	}
	mt.jobKinds = []string{
		reflection.ReflectUser{}.Kind(), episodes.MakeEpisodes{}.Kind(), session.CompactConversation{}.Kind(),
		consolidation.ConsolidateConversation{}.Kind(), erasure.EraseUser{}.Kind(), write.JudgeAgain{}.Kind(),
		ingest.ReprocessTurns{}.Kind(),
	}
	for _, job := range scheduled {
		handlers = append(handlers, job.Handler())
		mt.jobKinds = append(mt.jobKinds, job.Kind)
	}
	var err error
	if mt.scheduler, err = startJobs(ctx, b, s.record, handlers, scheduled); err != nil {
		return nil, err
	}
	return mt, requestPastMessages(ctx, b, s.record)
}

// startJobs runs jobs until shutdown, and enqueues the scheduled ones.
func startJobs(ctx context.Context, b base, record *database,
	handlers []jobs.Handler, scheduled []jobs.Maintenance) (*jobs.Scheduler, error) {
	runner, err := record.runner(jobs.Options{
		Workers: b.cfg.Jobs.Workers, Poll: b.pace.Jobs, Timeout: b.cfg.Jobs.Timeout,
		Drained: b.life.drained, Log: slogOf(b.log, "jobs"), Processes: record,
	}, handlers...)
	if err != nil {
		return nil, err
	}
	if err := runner.Start(ctx); err != nil {
		return nil, err
	}
	b.life.onStop("jobs", runner.Stop)
	scheduler, err := jobs.NewScheduler(record, b.now, b.log.Named("schedule"), scheduled...)
	if err != nil {
		return nil, err
	}
	b.life.run("schedule", scheduler.Run)
	return scheduler, nil
}

// reprocessingAge is for how long a run that has scored turns again can be undone.
const reprocessingAge = 30 * 24 * time.Hour

// tokenDays is for how many days the tokens that apps have used are kept: for a year and a month's bill.
const tokenDays = 400

// scheduled lists the jobs over all users. Those without a schedule run when an
// admin, or the server itself, asks for them.
func (mt *maintenance) scheduled(b base, s *stores, w *writing) []jobs.Maintenance {
	const cause = "schedule" // of the changes, in the history of memories
	set := b.cfg.Schedule
	return []jobs.Maintenance{
		job(set.Timeout, "reflection", set.Reflection, w.reflection.ReflectAll),
		job(set.Timeout, "compression", set.Compression, mt.compression.CompressAll),
		job(set.Timeout, "episodes", set.Episodes, w.episodes.MakeAll),
		job(set.Timeout, "evolution", evolutionSchedule(b), w.evolution.EvolveAll),
		job(set.Timeout, "forgetting", set.Forgetting, func(ctx context.Context) (forgetting.Totals, error) {
			return w.forgetting.RunAll(ctx, cause)
		}),
		job(set.Timeout, "purge", set.Purge, func(ctx context.Context) (purged, error) {
			n, err := w.forgetting.Purge(ctx, cause)
			if err == nil {
				_, err = s.record.PurgeTokens(ctx, db.DayOf(b.now())-tokenDays)
			}
			if err == nil {
				err = s.record.PurgeReprocessings(ctx, b.now().Add(-reprocessingAge))
			}
			moved := 0
			if err == nil && b.cfg.Learning.Enabled {
				moved, err = w.learning.Run(ctx)
			}
			return purged{n, moved}, err
		}),
		job(set.Timeout, "recall_log", set.Purge, func(ctx context.Context) (purged, error) {
			n, err := recall.PurgeLog(ctx, s.record, b.now().Add(-b.cfg.Recall.LogKeep))
			return purged{Purged: n}, err
		}),
		job(set.Timeout, api.Verification, set.Verification, s.projection.Verify),
		job(set.Timeout, api.Repair, "", s.projection.Repair),
		job(set.Timeout, api.Rebuild, "", s.projection.Rebuild),
		job(set.Timeout, api.Reembedding, "", s.reembedding.Work),
		job(set.Timeout, pastMessages, "", takeInPast(w.ingest)),
		job(set.Timeout, "facts", set.Facts, func(ctx context.Context) (facts.Totals, error) {
			return w.facts.RunDue(ctx, cause)
		}),
		job(set.Timeout, "consolidation", set.Consolidation, w.consolidation.RunAll),
		job(set.Timeout, "idle_conversations", set.Idle, w.consolidation.EndIdle),
		job(set.Timeout, "events", set.Purge, func(ctx context.Context) (notify.Purged, error) {
			return notify.Purge(ctx, s.record, b.now().Add(-eventAge))
		}),
	}
}

// evolutionSchedule is when instructions evolve; empty: never.
func evolutionSchedule(b base) string {
	if b.cfg.Reflection.Evolve == "off" {
		return ""
	}
	return b.cfg.Schedule.Evolution
}

// pastMessages is the kind of the job that makes memories of the messages of turns from before
// messages were kept.
const pastMessages = "past_messages"

// takeInPast does the job pastMessages in slices and records the progress after each. While
// the embedder is unavailable, the job waits.
func takeInPast(service *ingest.Service) func(ctx context.Context) (ingest.TakenIn, error) {
	return func(ctx context.Context) (ingest.TakenIn, error) {
		done, err := service.TakeInPast(ctx)
		switch {
		case memory.IsKind(err, memory.KindUnavailable):
			err = jobs.Later(30 * time.Second)
		case err == nil && done.Remaining > 0:
			err = jobs.Later(0)
		}
		return done, err
	}
}

// requestPastMessages enqueues the job pastMessages if there are turns from before messages were kept.
func requestPastMessages(ctx context.Context, b base, record *database) error {
	n, err := record.CountPastTurns(ctx)
	if err != nil || n == 0 || !b.cfg.Messages.Enabled {
		return err
	}
	b.log.Info("the messages of earlier turns are becoming memories", zap.Int("turns", n), zap.String("job", pastMessages))
	_, err = jobs.EnqueueAt(ctx, record, pastMessages, memory.Instant(b.now()))
	return err
}

// purged is the result of a purge job.
type purged struct {
	Purged     int `json:"purged"`               // memories, or entries of the log of recalls
	Thresholds int `json:"thresholds,omitempty"` // that have moved
}

// job makes a job that calls run. The API shows the result of run.
func job[T any](timeout time.Duration, kind, schedule string, run func(context.Context) (T, error)) jobs.Maintenance {
	return jobs.Maintenance{
		Kind: kind, Schedule: schedule, Timeout: timeout,
		Work: func(ctx context.Context, _ time.Time) (any, error) { return run(ctx) },
	}
}

// notifications are the event stream and the webhooks.
type notifications struct {
	feed     *notify.Feed
	webhooks *notify.Webhooks
	sender   *notify.Sender
}

// startNotifications reads new announcements until shutdown, for streams and webhooks.
func startNotifications(b base, record *database) notifications {
	set, log := notifySettings(b.cfg), b.log.Named("announce")
	n := notifications{
		feed:     notify.NewFeed(record, set, log),
		webhooks: notify.NewWebhooks(record, set, b.now),
		sender:   notify.NewSender(record, set, b.now, log),
	}
	b.life.onStop("deliveries", func(context.Context) error { n.sender.Close(); return nil })
	b.life.run("events", n.feed.Run)
	b.life.run("webhooks", notify.NewDispatcher(record, set, b.now, log).Run)
	return n
}
