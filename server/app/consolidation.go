package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"hippocampus/conversation/consolidation"
	"hippocampus/conversation/session"
	"hippocampus/db/jobs"
	"hippocampus/ingest"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/facts"
	"hippocampus/router"
	"hippocampus/server/config"
)

// openConsolidation makes the service that has lasting memories made of
// conversations, and has it hear of their turns. The counter is of its attempts.
func openConsolidation(store *database, working *session.Service, write *ingest.Service, know *facts.Service, chat llm.Chat, cfg config.Config, now func() time.Time, log *zap.Logger) (*consolidation.Service, prometheus.Collector) {
	log = log.Named("consolidation")
	attempts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "hippocampus_consolidations_total", Help: "Consolidations that this process has worked on, by what came of it.",
	}, []string{"type", "state"})
	consolidate := consolidation.New(consolidation.Parts{
		Records: store, Writer: write, Facts: know, Chat: chat, Guess: router.Guess,
		OnAttempt: func(kind memory.ConsolidationType, state memory.ConsolidationState) {
			attempts.WithLabelValues(string(kind), string(state)).Inc()
		},
		Now: now, Lease: cfg.Jobs.Timeout, Log: log,
	}, consolidationSettings(cfg))
	working.OnTurn = func(ctx context.Context, h session.ProcessedTurn) {
		if err := consolidate.OnTurn(ctx, h); err != nil && ctx.Err() == nil {
			log.Warn("the schedule makes up for it: a conversation could not be consolidated at once", zap.Error(err))
		}
	}
	return consolidate, attempts
}

// consolidating lists the upkeep of conversations.
func consolidating(cfg config.Schedule, consolidate *consolidation.Service) []jobs.Maintenance {
	return []jobs.Maintenance{
		upkeepOf("consolidation", cfg.Consolidation, cfg.Timeout, consolidate.RunAll),
		upkeepOf("idle_conversations", cfg.Idle, cfg.Timeout, consolidate.EndIdle),
	}
}
