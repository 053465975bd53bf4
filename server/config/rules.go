package config

import (
	"time"

	"hippocampus/internal/memory"
)

// rules has one entry for each setting; true or false needs none.
var rules = map[string]rule{
	"listen":    {"HOST:PORT, such as 127.0.0.1:8080", isAddress},
	"data":      {"a folder, such as data", notEmpty},
	"admin_key": {"up to 256 visible ASCII characters without spaces, or nothing", isKey},

	"log.level":  oneOf("debug", "info", "warn", "error"),
	"log.format": oneOf("console", "json"),

	"database.url":       {"postgres://USER:PASSWORD@HOST:PORT/NAME, or nothing for SQLite", optional(isURL("postgres", "postgresql"))},
	"database.max_conns": whole(4, 1000),

	"vectors": oneOf("auto", "pgvector"),

	"sqlitevec.cache_bytes": whole(0, 1<<40),

	"pgvector.index":   oneOf("HNSW", "FLAT"),
	"pgvector.exact":   whole(0, 1_000_000),
	"pgvector.timeout": between(100*time.Millisecond, 5*time.Minute),

	"milvus.host":       {"a host name or address without scheme and port, or nothing for sqlite-vec", isHost},
	"milvus.port":       whole(1, 65535),
	"milvus.collection": {"a letter or underscore, then up to 199 letters, digits or underscores", matches(`^[A-Za-z_][A-Za-z0-9_]{0,199}$`)},
	"milvus.index":      oneOf("FLAT", "HNSW"),
	"milvus.partitions": whole(1, 1024),
	"milvus.timeout":    between(100*time.Millisecond, 5*time.Minute),

	"chat.api_key":          {"visible ASCII characters without spaces, or nothing for rules", isKey},
	"chat.base_url":         endpoint,
	"chat.scorer_model":     modelName,
	"chat.router_model":     modelName,
	"chat.timeout":          between(100*time.Millisecond, 10*time.Minute),
	"chat.retries":          whole(0, 10),
	"chat.max_retry_wait":   between(0, 10*time.Minute),
	"chat.concurrency":      whole(1, 1024),
	"chat.breaker_failures": whole(1, 1000),
	"chat.breaker_delay":    between(time.Millisecond, time.Hour),

	"embedding.api_key":         {"visible ASCII characters without spaces, or nothing for the built-in embedder", isKey},
	"embedding.base_url":        endpoint,
	"embedding.model":           modelName,
	"embedding.dimension":       whole(0, 32768),
	"embedding.query_prefix":    anyText,
	"embedding.document_prefix": anyText,
	"embedding.timeout":         between(100*time.Millisecond, 10*time.Minute),
	"embedding.retries":         whole(0, 10),
	"embedding.concurrency":     whole(1, 1024),
	"embedding.batch":           whole(1, 2048),
	"embedding.cache_bytes":     whole(0, 1<<40),

	"embedding.previous.model":           anyText,
	"embedding.previous.api_key":         {"visible ASCII characters without spaces, or nothing for the key of embedding", isKey},
	"embedding.previous.base_url":        {"http(s)://HOST[:PORT][/PATH], or nothing for that of embedding", optional(isURL("http", "https"))},
	"embedding.previous.query_prefix":    anyText,
	"embedding.previous.document_prefix": anyText,

	"gate.threshold":        decimal(0, 1),
	"gate.echo_window":      between(0, 24*time.Hour),
	"gate.merge_similarity": decimal(0, 1),
	"gate.judge_similarity": decimal(0, 1),
	"gate.judge_timeout":    between(100*time.Millisecond, time.Minute),
	"gate.attempts":         whole(1, 100),
	"gate.retry_delay":      between(time.Millisecond, time.Hour),
	"gate.retry_limit":      between(time.Millisecond, 24*time.Hour),
	"gate.give_up":          between(time.Second, 720*time.Hour),

	"memories.max_per_user":   whole(0, 10_000_000),
	"memories.min_importance": decimal(0, 1),

	"jobs.workers":      whole(1, 1000),
	"jobs.poll":         between(time.Millisecond, time.Minute),
	"jobs.lease":        between(100*time.Millisecond, time.Hour),
	"jobs.renew":        between(10*time.Millisecond, time.Hour),
	"jobs.timeout":      between(100*time.Millisecond, time.Hour),
	"jobs.resume_after": between(100*time.Millisecond, 24*time.Hour),

	"router.timeout":     between(time.Millisecond, time.Minute),
	"router.cache_bytes": whole(0, 1<<40),
	"router.cache_ttl":   between(time.Millisecond, 24*time.Hour),

	"recall.limit":          whole(1, memory.MaxLimit),
	"recall.candidates":     whole(1, 1000),
	"recall.mode":           oneOf("modulated", "additive"),
	"recall.relevance":      decimal(0, 1000),
	"recall.decay":          decimal(0, 1000),
	"recall.importance":     decimal(0, 1000),
	"recall.decay_rate":     decimal(0.0001, 1),
	"recall.neighbour":      decimal(0, 1),
	"recall.second_next":    decimal(0, 1),
	"recall.speaker":        decimal(0, 1),
	"recall.date":           decimal(0, 1),
	"recall.when":           decimal(0, 1),
	"recall.question":       decimal(0, 1),
	"recall.lexical_floor":  decimal(0, 1),
	"recall.words":          decimal(0, 1),
	"recall.contrast":       decimal(0.1, 10),
	"recall.cache_bytes":    whole(0, 1<<40),
	"recall.bm25_k1":        decimal(0, 10),
	"recall.bm25_b":         decimal(0, 1),
	"recall.own_window":     between(0, time.Hour),
	"recall.own_limit":      whole(1, 100_000),
	"recall.compare_limit":  whole(0, 16_384),
	"recall.fallback_limit": whole(1, 16_384), // what Milvus returns at most
	"recall.touch_interval": between(time.Millisecond, time.Hour),
	"recall.vector_timeout": between(time.Millisecond, time.Minute),
	"recall.embed_timeout":  between(time.Millisecond, time.Minute),

	"projection.interval":      between(time.Millisecond, time.Hour),
	"projection.batch":         whole(1, 10_000),
	"projection.lease":         between(100*time.Millisecond, time.Hour),
	"projection.backoff":       between(time.Millisecond, time.Hour),
	"projection.backoff_limit": between(time.Millisecond, 24*time.Hour),
	"projection.grace":         between(time.Second, 24*time.Hour),

	"schedule.reflection":    schedule,
	"schedule.consolidation": schedule,
	"schedule.idle":          schedule,
	"schedule.facts":         schedule,
	"schedule.forgetting":    schedule,
	"schedule.purge":         schedule,
	"schedule.compression":   schedule,
	"schedule.verification":  schedule,
	"schedule.events":        schedule,
	"schedule.timeout":       between(time.Second, 24*time.Hour),

	"facts.trust": decimal(0, 1),

	"consolidation.importance": decimal(0, 1),
	"consolidation.urgent":     decimal(0, 1),
	"consolidation.full":       decimal(0.01, 1),
	"consolidation.idle":       between(time.Second, 8760*time.Hour),
	"consolidation.messages":   whole(1, 10_000),
	"consolidation.similarity": decimal(0, 1),
	"consolidation.attempts":   whole(1, 100),

	"reflection.importance": decimal(0, 1000),
	"reflection.cooldown":   between(0, 8760*time.Hour),
	"reflection.min_facts":  whole(2, 100),
	"reflection.max_facts":  whole(2, 100),

	"forgetting.policy":      oneOf("strengthening", "exponential"),
	"forgetting.threshold":   decimal(0, 1),
	"forgetting.base":        decimal(0.0001, 0.9999),
	"forgetting.growth":      decimal(1, 100),
	"forgetting.lambda":      decimal(0.0001, 100),
	"forgetting.min_age":     between(0, 8760*time.Hour),
	"forgetting.max_share":   decimal(0, 1),
	"forgetting.purge_after": between(0, 87600*time.Hour),

	"compression.context_memories": whole(1, memory.MaxLimit),
	"compression.context_timeout":  between(time.Millisecond, time.Minute),
	"compression.context_cache":    whole(0, 1_000_000),
	"compression.similarity":       decimal(0, 1),
	"compression.min_age":          between(0, 87600*time.Hour),
	"compression.accesses":         whole(1, 1_000_000),
	"compression.max_memories":     whole(3, 5000),

	"session.events":      whole(2, 10_000),
	"session.tokens":      whole(100, 1_000_000),
	"session.age":         between(0, 8760*time.Hour),
	"session.summary":     whole(200, memory.MaxContentRunes),
	"session.cache_bytes": whole(0, 1<<40),

	"events.keep":      between(time.Minute, 8760*time.Hour),
	"events.poll":      between(time.Millisecond, time.Minute),
	"events.streams":   whole(1, 10_000),
	"events.heartbeat": between(10*time.Millisecond, time.Hour),

	"webhooks.timeout":       between(time.Millisecond, time.Minute),
	"webhooks.disable_after": between(time.Second, 8760*time.Hour),

	"api.body_limit":       whole(1<<10, 1<<30),
	"api.batch_limit":      whole(1<<10, 1<<30),
	"api.rate_limit":       decimal(0, 1_000_000),
	"api.rate_burst":       whole(1, 1_000_000),
	"api.wait_timeout":     between(time.Millisecond, 10*time.Minute),
	"api.key_cache":        between(0, time.Hour),
	"api.shutdown_timeout": between(time.Millisecond, 10*time.Minute),
}
