package config

import "slices"

// removedKeys have become constants. Naming them here gives a file that still
// sets one a better error than a guess at another name.
var removedKeys = []string{
	"api.batch_limit", "api.body_limit", "api.key_cache", "chat.max_retry_wait", "compression.context_cache",
	"consolidation.attempts", "consolidation.full", "consolidation.importance", "consolidation.messages",
	"consolidation.similarity", "consolidation.urgent", "embedding.cache_bytes", "events.poll", "jobs.resume_after",
	"projection.batch",
	"recall.bm25_b", "recall.bm25_k1", "recall.fallback_limit", "recall.own_limit", "reflection.max_facts",
	"router.cache_bytes", "router.cache_ttl", "session.age", "session.summary",
}

// removed reports whether a key, or an environment variable, was a setting.
func removed(name string) bool {
	return slices.ContainsFunc(removedKeys, func(key string) bool { return name == key || name == variable(key) })
}
