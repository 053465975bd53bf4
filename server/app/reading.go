package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hippocampus/internal/tracing"
	"hippocampus/recall"
	"hippocampus/recall/calibration"
	"hippocampus/recall/profile"
	"hippocampus/recall/recollection"
	"hippocampus/recall/related"
	"hippocampus/reflection/compression"
	"hippocampus/router"
	"hippocampus/server/api"
	"hippocampus/server/proxy"
)

// reading has the parts that find memories.
type reading struct {
	recall        *recall.Service
	recaller      api.Recaller // recall, counted, and logged if the settings ask for it
	degraded      *prometheus.CounterVec
	stages        *prometheus.HistogramVec // of recalls
	recollections prometheus.Counter
	related       *related.Service
	profiles      *profile.Service
	routes        *router.Fallback
	condenser     *compression.Condenser
	injected      *proxy.Injections // texts that the OpenAI-compatible proxy may inject again

	calibrations *calibration.Service
}

func openReading(b base, s *stores, m *models) *reading {
	log := b.log.Named("recall")
	touches := recall.NewTouches(s.record, b.pace.Touches, log)
	b.life.run("touches", touches.Run)
	routes := router.Open(m.router, router.Options{
		Timeout: b.cfg.Router.Timeout, CallTimeout: b.cfg.Chat.Timeout, Now: b.now, Logger: b.log.Named("router"),
	})
	b.life.onStop("router", func(context.Context) error { routes.Close(); return nil })
	calibrations := calibration.New(s.record, s.embedder, b.log.Named("calibration"))
	b.life.run("calibration", calibrations.Run)
	set := recallSettings(b.cfg)
	set.Calibration = calibrations.Of
	set.Rerank.Model = m.reranker
	set.ZoneOf = s.zones.Of
	stages := newStages()
	set.OnStage = func(ctx context.Context, stage string, took time.Duration) {
		tracing.Observe(ctx, stages.WithLabelValues(stage), took.Seconds())
	}
	recollections := newRecollections()
	if b.cfg.Recall.Recollect {
		set.Recollector = &recollection.Service{
			Records: s.record, Embedder: s.embedder, Now: b.now,
			OnDone: func(memories int) { recollections.Add(float64(memories)) },
		}
	}
	service := recall.New(s.record, s.vectors, routes, s.embedder, touches, set, b.now, log)
	b.life.run("indexes", service.Run)
	var recaller api.Recaller = service
	if b.cfg.Recall.Log {
		entries := recall.NewLog(s.record, b.pace.Touches, log)
		b.life.run("log of recalls", entries.Run)
		recaller = recall.Logged{Service: service, Log: entries}
	}
	degraded := newDegraded()
	return &reading{
		recall:        service,
		recaller:      observedRecaller{recaller, degraded},
		degraded:      degraded,
		stages:        stages,
		recollections: recollections,
		related:       related.New(s.record, s.vectors, s.embedder, relatedSettings(b.cfg), b.now, b.log.Named("related")),
		profiles: profile.New(profile.Parts{
			Records: s.record, Stander: recaller, Chat: m.chat, Now: b.now, Log: b.log.Named("profile"),
		}),
		routes:    routes,
		condenser: compression.NewCondenser(m.condenser, condenserLimits(b.cfg)),
		injected:  proxy.NewInjections(),

		calibrations: calibrations,
	}
}
