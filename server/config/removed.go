package config

import "slices"

// removedKeys have become constants. Naming them here gives a file that still
// sets one a better error than a guess at another name.
var removedKeys = []string{
	"api.batch_limit", "api.body_limit", "api.key_cache", "api.rate_burst", "chat.breaker_delay",
	"chat.breaker_failures", "chat.max_retry_wait", "compression.accesses", "compression.context_cache",
	"consolidation.attempts", "consolidation.full", "consolidation.importance", "consolidation.messages",
	"consolidation.similarity", "consolidation.urgent", "embedding.cache_bytes", "embedding.previous.model",
	"embedding.retries", "events.heartbeat", "events.poll", "gate.judge_timeout", "gate.retry_delay",
	"gate.retry_limit", "jobs.poll", "jobs.renew", "jobs.resume_after", "milvus.timeout", "pgvector.exact",
	"pgvector.timeout", "projection.backoff", "projection.backoff_limit", "projection.batch", "projection.interval",
	"projection.lease", "recall.bm25_b", "recall.bm25_k1", "recall.fallback_limit", "recall.own_limit",
	"recall.touch_interval", "reflection.max_facts", "router.cache_bytes", "router.cache_ttl", "session.age",
	"session.cache_bytes", "session.summary", "sqlitevec.cache_bytes", "webhooks.timeout",
}

// removed reports whether a key, or an environment variable, was a setting.
func removed(name string) bool {
	return slices.ContainsFunc(removedKeys, func(key string) bool { return name == key || name == variable(key) })
}
