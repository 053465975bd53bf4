package app

import (
	"context"
	"runtime"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/exchange"
	"hippocampus/internal/memory"
	"hippocampus/server/api"
)

func openAPI(b base, s *stores, m *models, r *reading, w *writing, mt *maintenance) (*api.Server, error) {
	metrics := newMetrics(b, s, m, r, w)
	record := s.record
	return api.New(api.Options{
		Access: api.Access{
			Keys: record, Dev: b.cfg.Dev, KeyTTL: KeyTTL,
			RateLimit: b.cfg.API.RateLimit, Failures: b.cfg.API.AuthFailures,
		},
		Wait:        b.cfg.API.WaitTimeout,
		MaxInflight: maxInflight(b.cfg, runtime.GOMAXPROCS(0)),
		Metrics:     api.Metrics{Registerer: metrics, Gatherer: metrics, Apart: b.cfg.Metrics.Listen != ""},
		Checks:      checks(s, m),
		Logger:      b.log.Named("api"),
		Now:         b.now,

		Turns:          api.TurnParts{Ingester: w.ingest, Lister: record},
		Conversations:  api.ConversationParts{Reader: record, Sessions: w.session},
		Consolidations: api.ConsolidationParts{Consolidator: w.consolidation, Lister: record},
		Memories:       api.MemoryParts{Reader: record, Writer: w.ingest, Undoer: w.derivation},
		Related:        r.related,
		Facts:          api.FactParts{Writer: w.facts, Reader: record},
		Instructions:   api.InstructionParts{Publisher: w.instructions, Reader: record},
		Skills:         api.SkillParts{Recorder: w.skills, Reader: record},
		Candidates:     api.CandidateParts{Lister: record, Promoter: w.ingest},
		Recall:         api.RecallParts{Recaller: r.recaller, Sources: record, Log: record, Limit: b.cfg.Recall.Limit},
		Condenser:      r.condenser,
		Reflector:      w.reflection,
		Forgetter:      w.forgetting,
		Compressor:     mt.compression,
		Eraser:         mt.erasure,
		Stats: api.StatsParts{
			Counter: record, Retention: w.forgetting, Embedding: embedding(s), Prompts: promptStats(m.counts),
		},
		Exchange: exchange.New(record, s.embedder, b.now),
		Webhooks: mt.notifications.webhooks,
		Events:   api.EventParts{Feed: mt.notifications.feed},
		Jobs: api.JobParts{
			Reader: record, Kinds: mt.jobKinds,
			Enqueue: func(ctx context.Context, kind string) (db.JobInfo, error) {
				return jobs.EnqueueAt(ctx, record, kind, memory.Instant(b.now()))
			},
		},
	})
}

// embedding reports the models that serve and are to serve.
func embedding(s *stores) func() api.Embedding {
	return func() api.Embedding {
		p := s.reembedding.Progress()
		return api.Embedding{Serving: p.Serving.Model, Target: p.Target.Model, Remaining: p.Remaining}
	}
}
