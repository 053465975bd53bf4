package app

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.uber.org/zap"

	"hippocampus/conversation/consolidation"
	"hippocampus/conversation/session"
	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/exchange"
	"hippocampus/forgetting"
	"hippocampus/forgetting/erasure"
	"hippocampus/ingest"
	"hippocampus/internal/llm"
	"hippocampus/knowledge/instructions"
	"hippocampus/recall"
	"hippocampus/recall/related"
	"hippocampus/reflection"
	"hippocampus/reflection/derivation"
	"hippocampus/router"
	"hippocampus/scorer"
	"hippocampus/server/api"
	"hippocampus/server/config"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/guard"
	"hippocampus/vectorstore/projection"
)

// server is a server that is ready to answer.
type server struct {
	handler *api.Server
	keys    db.Keys
	secret  string // of an admin key that was made just now; else empty

	chat llm.Chat // for what no request waits for; nil: there is no chat model

	// What is in use, for people.
	database, vectors, embedder, scorer, router string
}

// build starts every part but HTTP, in order of dependency.
func build(ctx context.Context, cfg config.Config, host Host, life *lifecycle, log *zap.Logger) (*server, error) {
	s, now := &server{}, host.Now
	store, err := openDatabase(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	s.database = store.name
	life.onStop("database", func(context.Context) error { return store.Close() })
	if cfg.Database.Migrate {
		if err := store.Migrate(ctx); err != nil {
			return nil, fmt.Errorf("migrate the database: %w", err)
		}
	}
	if err := store.Ping(ctx); err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	s.keys = store

	client := llmOptions(cfg.Chat, now, log)
	configured, name, closeEmbedder, err := openEmbedder(ctx, cfg.Embedding, client)
	if err != nil {
		return nil, err
	}
	s.embedder = name
	life.onStop("embedder", func(context.Context) error { closeEmbedder(); return nil })
	score, route := judges(cfg, client, s, life)

	pairs, embedder, err := openPairs(ctx, cfg, store, configured, client, life, log)
	if err != nil {
		return nil, err
	}
	s.vectors = pairs.vectors
	var opened vectorstore.Store = embedder.Vectors()
	if host.Wrap != nil {
		store.Store, opened = host.Wrap(store.Store, opened)
	}
	vectors := guard.New(opened)
	life.onStop("vector store", func(context.Context) error { return vectors.Close() })

	push := projection.New(store, vectors, ProjectionSettings(cfg), now, log.Named("projection"))
	push.Serves(embedder.Space)
	pusher := pusherOf(cfg, push)
	keep := projection.NewUpkeep(store, opened, push, now, log.Named("projection"))
	models, err := startReembedding(ctx, cfg, s, store, pairs, embedder, push, keep, now, life, log)
	if err != nil {
		return nil, err
	}
	if err := startMending(ctx, keep, life); err != nil {
		return nil, err
	}
	life.run("projection", push.Run)
	touches := recall.NewTouches(store, cfg.Recall.TouchInterval, log.Named("recall"))
	life.run("touches", touches.Run)
	gate := router.Open(route, router.Options{
		Timeout: cfg.Router.Timeout, CacheBytes: routeCacheBytes, CacheTTL: routeCacheTTL, Now: now, Logger: log.Named("router"),
	})
	life.onStop("router", func(context.Context) error { gate.Close(); return nil })
	remember := recall.New(store, vectors, gate, embedder, touches, recallSettings(cfg), now, log.Named("recall"))
	derive := derivation.New(store, pusher, embedder, now)
	reflect := openReflection(store, derive, s.chat, cfg, now, life, log)
	working := openSession(store, s.chat, cfg, now, log)
	forget := forgetting.New(store, pusher, forgettingSettings(cfg), now, log.Named("forgetting"))
	write := ingest.New(ingest.Parts{
		Accepted: working.OnTurnAccepted, Processed: working.OnTurnProcessed,
		Records: store, Scorer: score, Judge: openJudge(cfg, client, life), Embedder: embedder, Vectors: vectors, Pusher: pusher,
		Guess: router.GuessBy, Written: reflect.MemoriesChanged, Grown: forget.MemoriesAdded, Now: now, Log: log.Named("ingest"),
	}, ingestSettings(cfg))
	know := openFacts(store, embedder, pusher, reflect, forget, cfg.Facts, now)
	life.run("turns", write.Run)
	life.run("dispatch", write.Dispatch)
	life.run("workers", write.Work)
	compress := openCompression(store, derive, s.chat, cfg, now, log)
	upkeep := append(scheduled(cfg.Schedule, forget, reflect, compress), append(proofs(cfg.Schedule, keep), reembedding(cfg.Schedule, models))...)
	upkeep = append(upkeep, factsDue(cfg.Schedule, know))
	consolidate, consolidated := openConsolidation(store, working, write, know, s.chat, cfg, now, log)
	upkeep = append(upkeep, consolidating(cfg.Schedule, consolidate)...)
	tell := startAnnouncing(store, cfg, now, life, log)
	upkeep = append(upkeep, tell.purge)
	condense := openCondenser(cfg, client, life)
	erase, eraseJob := openErasure(store, vectors, cfg.Schedule.Timeout, now, log, write, remember, condense, working)
	handlers := handlersOf(upkeep, jobs.Handle(func(ctx context.Context, job ingest.ProcessTurn) error { return write.Process(ctx, job.TurnID) }),
		jobs.HandleResult(cfg.Jobs.Timeout, reflect.Work), jobs.HandleResult(cfg.Jobs.Timeout, working.Work), jobs.HandleResult(cfg.Jobs.Timeout, consolidate.Work), tell.deliver, eraseJob)
	runner, err := store.runner(jobs.Options{
		Workers: cfg.Jobs.Workers, Poll: cfg.Jobs.Poll, Timeout: cfg.Jobs.Timeout,
		Drain: cfg.API.ShutdownTimeout, Log: slogOf(log, "jobs"),
	}, handlers...)
	if err != nil {
		return nil, err
	}
	if err := runner.Start(ctx); err != nil {
		return nil, err
	}
	life.onStop("jobs", runner.Stop)
	if err := startSchedule(store, upkeep, now, life, log); err != nil {
		return nil, err
	}

	metrics := prometheus.NewRegistry()
	metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&backlog{queue: store, now: now}, drift{keep}, remaining(models), undecided(write), consolidated, cachesOf(remember, gate, working))
	s.handler, err = api.New(api.Options{
		Access: api.Access{
			Keys: store, Dev: cfg.Dev, KeyTTL: KeyTTL, RateLimit: cfg.API.RateLimit, RateBurst: cfg.API.RateBurst,
		},
		Limits:  api.Limits{Wait: cfg.API.WaitTimeout},
		Metrics: api.Metrics{Registerer: metrics, Gatherer: metrics},
		Checks: []api.Check{
			{Name: "database", Required: true, Check: store.Ping},
			{Name: "vector_store", Check: opened.Ping},
		},
		Logger: log.Named("api"), Now: now,

		Turns:          api.TurnParts{Ingester: write, Lister: store},
		Conversations:  api.ConversationParts{Reader: store, Sessions: working},
		Consolidations: api.ConsolidationParts{Consolidator: consolidate, Lister: store},
		Memories:       api.MemoryParts{Reader: store, Writer: write, Undoer: derive},
		Related:        related.New(store, vectors, embedder, relatedSettings(cfg), now, log.Named("related")),
		Facts:          api.FactParts{Writer: know, Reader: store},
		Instructions:   api.InstructionParts{Publisher: instructions.New(store, now), Reader: store},
		Skills:         api.SkillParts{Recorder: openSkills(store, embedder, pusher, reflect, forget, now), Reader: store},
		Candidates:     api.CandidateParts{Lister: store, Promoter: write},
		Recall:         api.RecallParts{Recaller: remember, Sources: store, Limit: cfg.Recall.Limit},
		Condenser:      condense,
		Reflector:      reflect,
		Forgetter:      forget,
		Compressor:     compress,
		Eraser:         erase,
		Stats:          api.StatsParts{Counter: store, Retention: forget, Embedding: embeddingOf(models)},
		Exchange:       exchange.New(store, embedder, now),
		Events:         api.EventParts{Feed: tell.feed, Streams: cfg.Events.Streams, Heartbeat: cfg.Events.Heartbeat},
		Webhooks:       tell.webhooks,
		Jobs: api.JobParts{
			Reader: store, Enqueue: asker(store, now),
			Kinds: kindsOf(upkeep, reflection.ReflectUser{}.Kind(), session.CompactConversation{}.Kind(),
				consolidation.ConsolidateConversation{}.Kind(), erasure.EraseUser{}.Kind()),
		},
	})
	return s, err
}

func llmOptions(cfg config.Chat, now func() time.Time, log *zap.Logger) llm.Options {
	return llm.Options{
		BaseURL: cfg.BaseURL, APIKey: cfg.APIKey, Timeout: cfg.Timeout, Retries: retries(cfg.Retries),
		MaxRetryWait: config.MaxRetryWait, Concurrency: cfg.Concurrency,
		BreakerFailures: cfg.BreakerFailures, BreakerDelay: cfg.BreakerDelay, Logger: log.Named("llm"), Now: now,
	}
}

// judges are the scorer and the router: models where there is a chat key, else rules.
func judges(cfg config.Config, o llm.Options, s *server, life *lifecycle) (scorer.Scorer, router.Router) {
	if cfg.Chat.APIKey == "" {
		const hint = "rules (weaker than a model: set DEEPSEEK_API_KEY for one)"
		s.scorer, s.router = hint, hint
		return scorer.NewRules(), router.NewRules()
	}
	// Each has a breaker of its own: a router that is too slow for its short
	// deadline must not stop the scorer.
	scoring, routing := llm.NewClient(o), llm.NewClient(o)
	life.onStop("chat", func(context.Context) error { scoring.Close(); routing.Close(); return nil })
	s.scorer, s.router = cfg.Chat.ScorerModel, cfg.Chat.RouterModel
	s.chat = scoring.Chat(cfg.Chat.ScorerModel)
	return scorer.NewLLM(s.chat), router.NewLLM(routing.Chat(cfg.Chat.RouterModel))
}
