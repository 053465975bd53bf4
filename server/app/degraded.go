package app

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"hippocampus/recall"
	"hippocampus/server/api"
)

// observedRecaller counts the answers of recalls and contexts that did without a part.
type observedRecaller struct {
	api.Recaller
	degraded *prometheus.CounterVec // by part
}

// newDegraded counts degraded answers. The parts that every server has are shown from the start.
func newDegraded() *prometheus.CounterVec {
	degraded := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "hippocampus_degraded_total", Help: "Answers of recalls and contexts that did without a part, by part.",
	}, []string{"part"})
	for _, part := range []string{"embedder", "router", "vector_store"} {
		degraded.WithLabelValues(part)
	}
	return degraded
}

// newRecollections counts memories that had faded and are active again.
func newRecollections() prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{
		Name: "hippocampus_recollections_total",
		Help: "Memories that had faded and that a recall or context has made active again.",
	})
}

// newStages measures the stages of recalls.
func newStages() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "hippocampus_recall_stage_duration_seconds",
		Help:    "Duration of the stages of recalls. The stages route, embed and load run at the same time.",
		Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5},
	}, []string{"stage"})
}

// Recall implements api.Recaller.
func (o observedRecaller) Recall(ctx context.Context, q recall.Query) (recall.Answer, error) {
	answer, err := o.Recaller.Recall(ctx, q)
	for _, part := range answer.Degraded {
		o.degraded.WithLabelValues(part).Inc()
	}
	return answer, err
}
