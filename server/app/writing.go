package app

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"hippocampus/conversation/consolidation"
	"hippocampus/conversation/session"
	"hippocampus/forgetting"
	"hippocampus/ingest"
	"hippocampus/ingest/write"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/evolution"
	"hippocampus/knowledge/facts"
	"hippocampus/knowledge/instructions"
	"hippocampus/knowledge/skills"
	"hippocampus/learning"
	"hippocampus/memorytool"
	"hippocampus/reflection"
	"hippocampus/reflection/derivation"
	"hippocampus/reflection/episodes"
	"hippocampus/router"
	"hippocampus/scorer/statement"
)

// writing has the parts that change memories.
type writing struct {
	writer       *write.Writer
	ingest       *ingest.Service
	session      *session.Service
	derivation   *derivation.Service
	reflection   *reflection.Service
	episodes     *episodes.Service
	forgetting   *forgetting.Service
	facts        *facts.Service
	instructions *instructions.Service
	skills       *skills.Service
	evolution    *evolution.Service
	memoryTool   *memorytool.Service
	learning     *learning.Service

	consolidation  *consolidation.Service
	consolidations prometheus.Collector // counts them
}

func openWriting(b base, s *stores, m *models, r *reading) *writing {
	w := &writing{
		session: session.New(session.Parts{
			Records: s.record, Chat: m.chat, Zone: s.zones.Of, Now: b.now, Log: b.log.Named("session"),
		}, sessionSettings(b.cfg)),
		derivation:   derivation.New(s.record, s.pusher, s.embedder, b.now),
		forgetting:   forgetting.New(s.record, s.pusher, forgettingSettings(b.cfg), b.now, b.log.Named("forgetting")),
		instructions: instructions.New(s.record, b.now),
		learning:     learning.New(s.record, learningSettings(b.cfg), b.now),
	}
	w.episodes = episodes.New(episodes.Parts{
		Records: s.record, Embedder: s.embedder, Calibration: r.calibrations.Of, Chat: m.chat, Now: b.now,
	})
	w.reflection = reflection.New(reflection.Parts{
		Records: s.record, Derive: w.derivation, Chat: m.chat, Zone: s.zones.Of,
		Now: b.now, Log: b.log.Named("reflection"),
	}, reflectionSettings(b.cfg))
	added := func(ctx context.Context, owner memory.Owner, n int) {
		w.forgetting.MemoriesAdded(ctx, owner, n)
		r.recall.MemoriesAdded(owner, n)
	}
	w.writer = write.New(write.Parts{
		Records: s.record, Judge: m.judge, Embedder: s.embedder, Vectors: s.vectors, Pusher: s.pusher,
		Calibration: r.calibrations.Of,
		OnWritten:   w.reflection.MemoriesChanged,
		OnGrown:     added,
		Zone:        s.zones.Of,
		Now:         b.now, Log: b.log.Named("ingest"),
	}, writeSettings(b.cfg))
	w.ingest = ingest.New(ingest.Parts{
		Records: s.record, Scorer: m.scorer, Rules: m.rules, Writer: w.writer, Embedder: s.embedder, Pusher: s.pusher,
		Guess:       statement.Domain,
		IsSmallTalk: router.IsSmallTalk,
		OnAccepted: func(turn memory.Turn) {
			s.zones.OnTurnAccepted(turn)
			w.session.OnTurnAccepted(turn)
		},
		OnProcessed: w.session.OnTurnProcessed,
		Undo: func(ctx context.Context, appID, id string) error {
			_, _, err := w.derivation.Undo(ctx, appID, id)
			return err
		},
		Policies: s.policies.Of,
		Gate:     w.gate,
		Zone:     s.zones.Of,
		Now:      b.now, Log: b.log.Named("ingest"), Drained: b.life.drained,
	}, ingestSettings(b.cfg, b.pace))
	w.derivation.Compare, w.forgetting.Release = w.writer.Compare, w.ingest.Release
	w.facts = facts.New(facts.Parts{
		Records: s.record, Embedder: s.embedder, Pusher: s.pusher, Guess: statement.Domain,
		Compare: w.writer.Compare, Refuse: w.ingest.RefuseNever,
		OnChanged: w.reflection.MemoriesChanged, OnAdded: added, Now: b.now,
	}, factTrust)
	w.evolution = evolution.New(evolution.Parts{
		Records: s.record, Instructions: w.instructions, Chat: m.chat, Zone: s.zones.Of, Refuse: w.ingest.RefuseNever,
		Publish: b.cfg.Reflection.Evolve == "publish", Now: b.now,
	})
	w.skills = skills.New(skills.Parts{
		Records: s.record, Embedder: s.embedder, Pusher: s.pusher, Guess: statement.Domain,
		Refuse: w.ingest.RefuseNever, OnChanged: w.reflection.MemoriesChanged, OnAdded: added, Now: b.now,
	})
	w.memoryTool = memorytool.New(s.record, w.ingest, b.now)
	w.consolidation, w.consolidations = openConsolidation(b, s, m, w)
	b.life.run("reflection", w.reflection.Run)
	b.life.run("turns", w.ingest.Work)
	return w
}

// gate returns the threshold of an app's gate.
func (w *writing) gate(ctx context.Context, appID string) (memory.Threshold, error) {
	return w.learning.Of(ctx, appID, memory.GateThreshold)
}

// openConsolidation makes the service that consolidates conversations after
// their turns, and the counter of its attempts.
func openConsolidation(b base, s *stores, m *models, w *writing) (*consolidation.Service, prometheus.Collector) {
	log := b.log.Named("consolidation")
	attempts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "hippocampus_consolidations_total", Help: "Consolidations that this process has worked on, by outcome.",
	}, []string{"type", "state"})
	service := consolidation.New(consolidation.Parts{
		Records: s.record, Writer: w.ingest, Facts: w.facts, Chat: m.chat, Guess: statement.Domain, Zone: s.zones.Of,
		OnAttempt: func(kind memory.ConsolidationType, state memory.ConsolidationState) {
			attempts.WithLabelValues(string(kind), string(state)).Inc()
		},
		OnEnded: w.episodes.OnConversationEnded,
		Now:     b.now, Lease: b.cfg.Jobs.Lease, Timeout: b.cfg.Jobs.Timeout, Log: log,
	}, consolidationSettings(b.cfg))
	w.session.OnTurn = func(ctx context.Context, turn session.ProcessedTurn) {
		if err := service.OnTurn(ctx, turn); err != nil && ctx.Err() == nil {
			log.Warn("could not consolidate a conversation at once, the schedule tries again", zap.Error(err))
		}
	}
	return service, attempts
}
