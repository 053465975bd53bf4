package config

import (
	"slices"

	"hippocampus/internal/memory"
)

// unknown is the error of a name that no setting has.
func unknown(what, name, source string, known []string) error {
	hint := "deploy/hippocampus.example.yaml lists every setting"
	if removed(name) {
		hint = "it is no longer a setting, remove it"
	} else if near := Nearest(name, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	return memory.Errorf(memory.KindInvalid, "unknown %s %s%s: %s", what, oneLine(name), inBrackets(source), hint)
}

// removedKeys have become constants. Naming them here gives a file that still
// sets one a better error than a guess at another name.
var removedKeys = []string{
	"api.batch_limit", "api.body_limit", "api.key_cache", "api.rate_burst", "chat.breaker_delay",
	"chat.breaker_failures", "chat.max_retry_wait", "compression.accesses", "compression.context_cache",
	"compression.similarity", "consolidation.attempts", "consolidation.full",
	"consolidation.importance", "consolidation.messages", "consolidation.similarity", "consolidation.urgent",
	"embedding.cache_bytes", "embedding.previous.model", "embedding.retries", "events.heartbeat", "events.keep",
	"events.poll", "events.streams", "facts.trust", "gate.attempts", "gate.echo_window", "gate.give_up",
	"gate.judge_timeout", "gate.retry_delay", "gate.retry_limit", "jobs.poll", "jobs.renew", "jobs.resume_after",
	"milvus.timeout", "pgvector.exact", "pgvector.timeout", "projection.backoff", "projection.backoff_limit",
	"projection.batch", "projection.interval", "projection.lease", "recall.bm25_b", "recall.bm25_k1",
	"recall.contrast", "recall.date", "recall.fallback_limit", "recall.lexical_floor", "recall.neighbour",
	"recall.own_limit", "recall.question", "recall.routed", "recall.second_next", "recall.speaker",
	"recall.touch_interval", "recall.when", "recall.words", "reflection.max_facts", "reflection.min_facts",
	"router.cache_bytes", "router.cache_ttl", "schedule.events", "session.age", "session.cache_bytes",
	"session.summary", "session.tokens", "sqlitevec.cache_bytes", "webhooks.disable_after", "webhooks.timeout",
}

// removed reports whether a key, or an environment variable, was a setting.
func removed(name string) bool {
	return slices.ContainsFunc(removedKeys, func(key string) bool { return name == key || name == variable(key) })
}

// Nearest returns the known name with the fewest edits from name, the first by
// alphabet of several, or "" if more than a third of name differs.
func Nearest(name string, known []string) string {
	best, least := "", len(name)/3+1
	for _, candidate := range slices.Sorted(slices.Values(known)) {
		if d := distance(name, candidate); d < least || d == least && best == "" {
			best, least = candidate, d
		}
	}
	return best
}

// distance returns the Levenshtein distance between a and b, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
