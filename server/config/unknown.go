package config

import (
	"slices"

	"hippocampus/internal/memory"
	"hippocampus/internal/nearest"
)

// unknown is the error of a name that no setting has.
func unknown(what, name, source string, known []string) error {
	hint := "deploy/hippocampus.example.yaml lists every setting"
	if removed(name) {
		hint = "it is no longer a setting, remove it"
	} else if near := nearest.Name(name, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	return memory.Errorf(memory.KindInvalid, "unknown %s %s%s: %s", what, oneLine(name), inBrackets(source), hint)
}

// removedKeys have become constants. A file that still sets one of them gets a better error
// than a guess at another name.
var removedKeys = []string{
	"api.batch_limit", "api.body_limit", "api.key_cache", "api.rate_burst", "chat.breaker_delay",
	"chat.breaker_failures", "chat.max_retry_wait", "compression.accesses", "compression.context_cache",
	"compression.context_memories", "compression.context_timeout", "compression.min_age", "compression.similarity",
	"consolidation.attempts", "consolidation.full", "consolidation.importance", "consolidation.messages",
	"consolidation.similarity", "consolidation.urgent", "embedding.cache_bytes", "embedding.previous.model",
	"embedding.retries", "events.heartbeat", "events.keep", "events.poll", "events.streams", "facts.trust",
	"forgetting.min_age", "gate.attempts", "gate.echo_window", "gate.give_up", "gate.judge_similarity",
	"gate.judge_timeout", "gate.merge_similarity", "gate.retry_delay", "gate.retry_limit", "jobs.poll", "jobs.renew",
	"jobs.resume_after", "milvus.timeout", "pgvector.exact", "pgvector.timeout", "projection.backoff",
	"projection.backoff_limit", "projection.batch", "projection.interval", "projection.lease", "proxy.upstream_timeout",
	"recall.bm25_b", "recall.bm25_k1", "recall.candidates", "recall.contrast", "recall.date",
	"recall.embed_timeout", "recall.fallback_limit", "recall.lexical_floor",
	"recall.neighbour", "recall.own_limit", "recall.question", "recall.routed",
	"recall.second_next", "recall.speaker", "recall.touch_interval", "recall.vector_timeout", "recall.when",
	"recall.words", "reflection.max_facts", "reflection.min_facts", "router.cache_bytes", "router.cache_ttl",
	"schedule.events", "session.age", "session.cache_bytes", "session.summary", "session.tokens",
	"sqlitevec.cache_bytes", "webhooks.disable_after", "webhooks.timeout",
}

// removed reports whether a key, or an environment variable, was a setting.
func removed(name string) bool {
	return slices.ContainsFunc(removedKeys, func(key string) bool { return name == key || name == variable(key) })
}
