package app

import (
	"context"
	"net/url"
	"runtime"

	"hippocampus/console"
	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/db/modes"
	"hippocampus/exchange"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
	"hippocampus/server/api"
	"hippocampus/server/config"
	"hippocampus/server/files"
	"hippocampus/server/frame"
	"hippocampus/server/mcp"
	"hippocampus/server/mem0"
	"hippocampus/server/proxy"
)

func openAPI(b base, s *stores, m *models, r *reading, w *writing, mt *maintenance) (*api.Server, error) {
	metrics := newMetrics(b, s, m, r, w)
	record := s.record
	documentation, err := documentation()
	if err != nil {
		return nil, err
	}
	pages, err := console.New()
	if err != nil {
		return nil, err
	}
	cores := runtime.GOMAXPROCS(0)
	return api.New(api.Options{
		Access: frame.Access{
			Keys: record, Dev: b.cfg.Dev, KeyTTL: KeyTTL,
			RateLimit: b.cfg.API.RateLimit, Failures: b.cfg.API.AuthFailures,
			Proxies: config.NetworksOf(b.cfg.API.TrustedProxies),
		},
		Wait:              b.cfg.API.WaitTimeout,
		Origins:           origins(b.cfg),
		MaxInflight:       maxInflight(b.cfg, cores),
		MaxInflightTurns:  maxInflightTurns(b.cfg, cores),
		MaxInflightWrites: maxInflightWrites(b.cfg, cores),
		KeepSecrets:       b.cfg.Secrets.Keep,
		Quotas:            quotas(b.cfg, record),
		Metrics:           frame.Metrics{Registerer: metrics, Gatherer: metrics, Apart: b.cfg.Metrics.Listen != ""},
		Checks:            checks(s, m),
		Logger:            b.log.Named("api"),
		Now:               b.now,

		Turns:          api.TurnParts{Ingester: w.ingest, Lister: record},
		Conversations:  api.ConversationParts{Reader: record, People: record, Sessions: w.session, Forgetter: w.ingest},
		Consolidations: api.ConsolidationParts{Consolidator: w.consolidation, Lister: record},
		Memories:       api.MemoryParts{Reader: record, Writer: w.ingest, Undoer: w.derivation},
		Related:        r.related,
		Facts:          api.FactParts{Writer: w.facts, Reader: record},
		Instructions:   api.InstructionParts{Publisher: w.instructions, Reader: record},
		Policies:       api.PolicyParts{Keeper: s.policies, AsksModel: m.scorer.Name() != scorer.RulesName},
		Profiles:       api.ProfileParts{Schemas: record, Filler: r.profiles},
		Documents:      api.DocumentParts{Writer: w.ingest, Reader: record},
		Reprocess:      api.ReprocessParts{Runner: w.ingest, Reader: record},
		Skills:         api.SkillParts{Recorder: w.skills, Reader: record},
		MemoryTool:     api.MemoryToolParts{Runner: w.memoryTool, Reader: record},
		Candidates:     api.CandidateParts{Lister: record, Promoter: w.ingest, Threshold: w.gate},
		Recall: api.RecallParts{
			Recaller: r.recaller, People: record, Sources: record, Log: record, Episodes: w.episodes,
			Limit: b.cfg.Recall.Limit, Timeout: b.cfg.Recall.Timeout,
			ZoneOf: s.zones.Of, Feedback: w.learning,
			Confidence: func(ctx context.Context, appID string) (memory.Threshold, error) {
				return w.learning.Of(ctx, appID, memory.ConfidenceThreshold)
			},
		},
		Pool:       api.PoolParts{Keeper: w.ingest, Reader: record},
		Thresholds: w.learning,
		Learning:   b.cfg.Learning.Enabled,
		Condenser:  r.condenser,
		Reflector:  w.reflection,
		Proposals:  api.ProposalParts{Insights: w.derivation, Instructions: w.evolution, Workflows: record},
		Forgetter:  w.forgetting,
		Compressor: mt.compression,
		Eraser:     mt.erasure,
		Merger:     mt.erasure,
		Users:      record,
		Zones:      s.zones,
		Modes:      modes.New(record),
		Stats: api.StatsParts{
			Counter: record, Retention: w.forgetting, Embedding: embedding(s), Prompts: promptStats(m.counts),
			Tokens: tokenStats(m.meter),
		},
		Mounts: append(files.Mounts(), mcp.Mount(s.zones.Of, b.log.Named("mcp")), mem0.Mount(),
			proxy.Mount(proxyOptions(b, r))),
		Documentation: documentation,
		Console:       pages,
		Exchange:      newExchange(b, s, r),
		Webhooks:      mt.notifications.webhooks,
		Keys:          record,
		State:         stateParts(s, w, mt),
		Events:        api.EventParts{Feed: mt.notifications.feed},
		Jobs: api.JobParts{
			Reader: record, Kinds: mt.jobKinds,
			Enqueue: func(ctx context.Context, kind string) (db.JobInfo, error) {
				return jobs.EnqueueAt(ctx, record, kind, memory.Instant(b.now()))
			},
		},
	})
}

func newExchange(b base, s *stores, r *reading) *exchange.Service {
	e := exchange.New(s.record, s.embedder, b.now)
	e.OnAdded = r.recall.MemoriesAdded
	return e
}

func stateParts(s *stores, w *writing, mt *maintenance) api.StateParts {
	return api.StateParts{
		Backlog: func(ctx context.Context) (db.Backlog, error) { return s.record.VectorBacklog(ctx, nil) },
		Drift: func() (api.Drift, bool) {
			r, ok := s.projection.Last()
			return api.Drift{
				At: memory.Instant(r.At), Missing: r.Missing.Count, Orphaned: r.Orphaned.Count, Different: r.Different.Count,
			}, ok
		},
		Lag:      w.ingest.Lag,
		Schedule: mt.scheduler.Next,
	}
}

func quotas(cfg config.Config, counter api.UsageCounter) api.Quotas {
	q := api.Quotas{Default: kept(cfg.Quotas), Apps: map[string]db.Usage{}, Counter: counter}
	for app, own := range cfg.AppQuotas {
		q.Apps[app] = kept(own)
	}
	return q
}

// kept are the quotas of what an app keeps.
func kept(q config.Quotas) db.Usage {
	return db.Usage{
		Users: q.Users, Memories: q.Memories, Bytes: q.Bytes, Versions: q.Versions, Webhooks: q.Webhooks,
	}
}

func proxyOptions(b base, r *reading) proxy.Options {
	cfg := b.cfg.Proxy
	return proxy.Options{
		Upstream: upstreamOf(cfg), Key: cfg.APIKey, Timeout: cfg.Timeout, Wait: upstreamTimeout,
		MaxTokens: cfg.MaxTokens, TrustHeaders: cfg.TrustHeaders, AnyKey: b.cfg.Dev, Injected: r.injected,
		Now: b.now, Log: b.log.Named("proxy"),
	}
}

// upstreamOf is the URL of the proxy's upstream, which the configuration has checked, or nil.
func upstreamOf(cfg config.Proxy) *url.URL {
	if cfg.Upstream == "" {
		return nil
	}
	upstream, _ := url.Parse(cfg.Upstream)
	return upstream
}

// embedding reports the models that serve and are to serve.
func embedding(s *stores) func() api.Embedding {
	return func() api.Embedding {
		p := s.reembedding.Progress()
		return api.Embedding{Serving: p.Serving.Model, Target: p.Target.Model, Remaining: p.Remaining}
	}
}
