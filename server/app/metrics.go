package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"hippocampus/ingest/write"
	"hippocampus/internal/memory"
)

// newMetrics registers all metrics of /metrics except those of requests.
func newMetrics(b base, s *stores, m *models, r *reading, w *writing) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		backlog(s, b.now),
		waitingJudgements(s),
		drift(s),
		caches(r, w),
		prompts(m.counts),
		modelTokens(m.meter),
		routes(r),
		turns(w),
		r.degraded,
		r.stages,
		r.recollections,
		w.consolidations,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "hippocampus_reembedding_remaining",
			Help: "Active memories without an embedding by the model that is to serve.",
		}, func() float64 { return float64(s.reembedding.Progress().Remaining) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "hippocampus_judgements_undecided_total",
			Help: "Memories kept next to similar ones because the model was unavailable or its answer was refused.",
		}, func() float64 { return float64(w.writer.Undecided()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "hippocampus_memories_refused_total",
			Help: "Memories without an embedding because the embedder refused their texts; their words find them.",
		}, func() float64 { return float64(w.ingest.Refused()) }),
	)
	return registry
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

func gauge(desc *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}

// collector collects metrics of some descriptions.
type collector struct {
	descriptions []*prometheus.Desc
	collect      func(chan<- prometheus.Metric)
}

// Describe implements prometheus.Collector.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range c.descriptions {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) { c.collect(ch) }

var (
	pendingGauge  = describe("hippocampus_vectors_pending", "Memories that the vector store has not confirmed yet.")
	removingGauge = describe("hippocampus_vectors_removing",
		"Memories whose removal the vector store has not confirmed yet.")
	oldestGauge = describe("hippocampus_vectors_oldest_seconds", "Age of the oldest waiting push.")
	olderGauge  = describe("hippocampus_vectors_waiting",
		"Memories whose push or removal has waited for longer than an age.", "older_than")
)

// backlogAges are the ages of hippocampus_vectors_waiting.
var backlogAges = []struct {
	name string
	age  time.Duration
}{{"1m", time.Minute}, {"10m", 10 * time.Minute}, {"1h", time.Hour}}

// backlogTimeout bounds the query of one scrape.
const backlogTimeout = 2 * time.Second

// backlog collects gauges of the outbox towards the vector store. It omits them if
// the database is unavailable, since a missing value differs from zero.
func backlog(s *stores, now func() time.Time) collector {
	all := []*prometheus.Desc{pendingGauge, removingGauge, oldestGauge, olderGauge}
	return collector{all, func(ch chan<- prometheus.Metric) {
		ctx, cancel := context.WithTimeout(context.Background(), backlogTimeout)
		defer cancel()
		before := make([]time.Time, len(backlogAges))
		for i, older := range backlogAges {
			before[i] = memory.Instant(now().Add(-older.age))
		}
		counts, err := s.record.VectorBacklog(ctx, before)
		if err != nil {
			return
		}
		age := 0.0
		if !counts.Oldest.IsZero() {
			age = max(0, now().Sub(counts.Oldest).Seconds())
		}
		ch <- gauge(pendingGauge, float64(counts.Pending))
		ch <- gauge(removingGauge, float64(counts.Removing))
		ch <- gauge(oldestGauge, age)
		for i, older := range backlogAges {
			ch <- gauge(olderGauge, float64(counts.Before[i]), older.name)
		}
	}}
}

var judgeAgainGauge = describe("hippocampus_judgements_waiting",
	"Jobs that will ask the judge again about memories on which it gave no verdict.")

// waitingJudgements collects the gauge of the judgements that are to be repeated. It omits it if the database is
// unavailable.
func waitingJudgements(s *stores) collector {
	return collector{[]*prometheus.Desc{judgeAgainGauge}, func(ch chan<- prometheus.Metric) {
		ctx, cancel := context.WithTimeout(context.Background(), backlogTimeout)
		defer cancel()
		if waiting, err := s.record.WaitingJobs(ctx, write.JudgeAgain{}.Kind()); err == nil {
			ch <- gauge(judgeAgainGauge, float64(waiting))
		}
	}}
}

var (
	driftGauge = describe("hippocampus_vectors_drift",
		"Memories that the stores disagreed about at the latest verification of this process.", "kind")
	verifiedGauge = describe("hippocampus_vectors_verified_timestamp_seconds",
		"When this process last verified the stores, unix time.")
)

// drift collects gauges of the latest verification by this process. It omits them
// before the first one.
func drift(s *stores) collector {
	return collector{[]*prometheus.Desc{driftGauge, verifiedGauge}, func(ch chan<- prometheus.Metric) {
		r, ok := s.projection.Last()
		if !ok {
			return
		}
		ch <- gauge(driftGauge, float64(r.Missing.Count), "missing")
		ch <- gauge(driftGauge, float64(r.Orphaned.Count), "orphaned")
		ch <- gauge(driftGauge, float64(r.Different.Count), "different")
		ch <- gauge(verifiedGauge, float64(r.At.UnixMilli())/1000)
	}}
}

var (
	cacheHits   = describe("hippocampus_cache_hits_total", "Lookups that a cache answered.", "cache")
	cacheMisses = describe("hippocampus_cache_misses_total", "Lookups that a cache could not answer.", "cache")
	cacheBytes  = describe("hippocampus_cache_bytes", "Approximate size of a cache.", "cache")
)

// caches collects the metrics of the caches.
func caches(r *reading, w *writing) collector {
	return collector{[]*prometheus.Desc{cacheHits, cacheMisses, cacheBytes}, func(ch chan<- prometheus.Metric) {
		all := r.recall.CacheStats()
		all["routes"] = r.routes.CacheStats()
		all["conversations"] = w.session.CacheStats()
		for name, s := range all {
			ch <- prometheus.MustNewConstMetric(cacheHits, prometheus.CounterValue, float64(s.Hits), name)
			ch <- prometheus.MustNewConstMetric(cacheMisses, prometheus.CounterValue, float64(s.Misses), name)
			ch <- gauge(cacheBytes, float64(s.Bytes), name)
		}
	}}
}

var routesTotal = describe("hippocampus_routes_total", "Queries by what routed them: the model, or rules because "+
	"there is no model (rules), it had not answered within router.timeout (late) or it failed (failed).", "by")

// routes collects the numbers of routes.
func routes(r *reading) collector {
	return collector{[]*prometheus.Desc{routesTotal}, func(ch chan<- prometheus.Metric) {
		for by, n := range r.routes.Counts() {
			ch <- prometheus.MustNewConstMetric(routesTotal, prometheus.CounterValue, float64(n), by)
		}
	}}
}

var (
	turnsTotal = describe("hippocampus_turns_total",
		"Attempts of this process at turns by outcome: processed, deferred (tried again later) or failed.", "outcome")
	candidatesTotal = describe("hippocampus_candidates_total",
		"Facts that the scorer proposed, by the verdict of the gate and of what followed it.", "verdict")
	lagGauge = describe("hippocampus_turns_lag_seconds",
		"How long the turn that has waited longest for a worker has been due; 0: no turn is due.")
)

// turns collects the numbers of turns by outcome, and their lag.
func turns(w *writing) collector {
	return collector{[]*prometheus.Desc{turnsTotal, candidatesTotal, lagGauge}, func(ch chan<- prometheus.Metric) {
		for outcome, n := range w.ingest.TurnCounts() {
			ch <- prometheus.MustNewConstMetric(turnsTotal, prometheus.CounterValue, float64(n), string(outcome))
		}
		for verdict, n := range w.ingest.VerdictCounts() {
			ch <- prometheus.MustNewConstMetric(candidatesTotal, prometheus.CounterValue, float64(n), string(verdict))
		}
		ch <- gauge(lagGauge, w.ingest.Lag().Seconds())
	}}
}
