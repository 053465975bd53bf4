package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hippocampus/db"
)

// backlog shows the outbox towards the vector store as gauges, read when they
// are asked for.
type backlog struct {
	queue interface {
		VectorBacklog(ctx context.Context) (db.Backlog, error)
	}
	now func() time.Time
}

var (
	pendingGauge  = prometheus.NewDesc("hippocampus_vectors_pending", "Memories that the vector store has not confirmed yet.", nil, nil)
	removingGauge = prometheus.NewDesc("hippocampus_vectors_removing", "Memories that the vector store has not confirmed to be gone yet.", nil, nil)
	oldestGauge   = prometheus.NewDesc("hippocampus_vectors_oldest_seconds", "How long the longest waiting push has been waiting.", nil, nil)
)

// backlogTimeout bounds the reading of one scrape.
const backlogTimeout = 2 * time.Second

func (b *backlog) Describe(ch chan<- *prometheus.Desc) {
	ch <- pendingGauge
	ch <- removingGauge
	ch <- oldestGauge
}

// Collect leaves the gauges out while the database is away: none is no zero.
func (b *backlog) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), backlogTimeout)
	defer cancel()
	counts, err := b.queue.VectorBacklog(ctx)
	if err != nil {
		return
	}
	age := 0.0
	if !counts.Oldest.IsZero() {
		age = max(0, b.now().Sub(counts.Oldest).Seconds())
	}
	ch <- prometheus.MustNewConstMetric(pendingGauge, prometheus.GaugeValue, float64(counts.Pending))
	ch <- prometheus.MustNewConstMetric(removingGauge, prometheus.GaugeValue, float64(counts.Removing))
	ch <- prometheus.MustNewConstMetric(oldestGauge, prometheus.GaugeValue, age)
}
