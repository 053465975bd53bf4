package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"hippocampus/conversation/session"
	"hippocampus/internal/cache"
	"hippocampus/recall"
	"hippocampus/router"
)

var (
	cacheHits   = prometheus.NewDesc("hippocampus_cache_hits_total", "Lookups that a cache answered.", []string{"cache"}, nil)
	cacheMisses = prometheus.NewDesc("hippocampus_cache_misses_total", "Lookups that a cache could not answer.", []string{"cache"}, nil)
	cacheBytes  = prometheus.NewDesc("hippocampus_cache_bytes", "About how much a cache holds.", []string{"cache"}, nil)
)

// caches are metrics of the caches, read when they are asked for.
type caches func() map[string]cache.Stats

// Describe and Collect make it a prometheus.Collector.
func (c caches) Describe(out chan<- *prometheus.Desc) {
	out <- cacheHits
	out <- cacheMisses
	out <- cacheBytes
}

func (c caches) Collect(out chan<- prometheus.Metric) {
	for name, s := range c() {
		out <- prometheus.MustNewConstMetric(cacheHits, prometheus.CounterValue, float64(s.Hits), name)
		out <- prometheus.MustNewConstMetric(cacheMisses, prometheus.CounterValue, float64(s.Misses), name)
		out <- prometheus.MustNewConstMetric(cacheBytes, prometheus.GaugeValue, float64(s.Bytes), name)
	}
}

// cachesOf are those that recall and the working memory look into.
func cachesOf(r *recall.Service, routes *router.Gate, working *session.Service) caches {
	return func() map[string]cache.Stats {
		all := r.CacheStats()
		all["routes"] = routes.CacheStats()
		all["conversations"] = working.CacheStats()
		return all
	}
}
