package recall

import "hippocampus/internal/cache"

// Purge lets go of the queries whose embeddings are kept, and of what is known
// of users: they are their words, too.
func (s *Service) Purge() {
	s.queries.Purge()
	s.indexes.Purge()
}

// CacheStats tell how the caches do, by what they hold.
func (s *Service) CacheStats() map[string]cache.Stats {
	return map[string]cache.Stats{"query_embeddings": s.queries.Stats(), "user_indexes": s.indexes.Stats()}
}
