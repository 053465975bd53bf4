// Package alerttest evaluates the rules of deploy/alerts.yaml with Prometheus' own engine on series that it makes up.
// It is a module of its own, since the engine needs many others.
package alerttest

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/tsdbutil"
)

// series is a counter that grows by perSecond or, if gauge is set, a gauge whose value is gauge of the time since
// begin. It has no sample while the value is NaN.
type series struct {
	perSecond float64
	gauge     func(at time.Duration) float64
}

func grows(perSecond float64) series { return series{perSecond: perSecond} }
func is(value float64) series        { return series{gauge: func(time.Duration) float64 { return value }} }

// fault replaces series from one time until another.
type fault struct {
	from, until time.Duration
	series      map[string]series // by the names of the series that they replace
}

// value returns the value of a series at a time.
func (f fault) value(name string, healthy series, at time.Duration) float64 {
	faulty, changes := f.series[name]
	if !changes {
		faulty = healthy
	}
	during := min(max(at-f.from, 0), f.until-f.from) // the part of the time that is in the fault
	switch {
	case healthy.gauge == nil:
		return healthy.perSecond*(at-during).Seconds() + faulty.perSecond*during.Seconds()
	case during > 0 && at < f.until:
		return faulty.gauge(at)
	}
	return healthy.gauge(at)
}

const scrape = 15 * time.Second // the interval of samples

// begin is the time of the first samples.
var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// samples has the samples of healthy series with a fault. It is a storage.Queryable.
type samples struct {
	t       *testing.T
	healthy map[string]series // by their names with labels, such as turns_total{outcome="failed"}
	fault   fault
	length  time.Duration
}

// Querier implements storage.Queryable.
func (s samples) Querier(context.Context, int64, int64) (storage.Querier, error) {
	return querier{storage.NoopQuerier(), s}, nil
}

type querier struct {
	storage.LabelQuerier // which rules do not call
	samples
}

// Select implements storage.Querier.
func (s querier) Select(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	var found []storage.Series
	for name, healthy := range s.healthy {
		metric, err := parser.ParseMetric(name)
		if err != nil {
			s.t.Fatalf("%s: %v", name, err)
		}
		if !matches(metric, matchers) {
			continue
		}
		var points []tsdbutil.Sample
		for at := time.Duration(0); at <= s.length; at += scrape {
			if v := s.fault.value(name, healthy, at); !math.IsNaN(v) {
				points = append(points, sample{begin.Add(at).UnixMilli(), v})
			}
		}
		found = append(found, storage.NewListSeries(metric, points))
	}
	return &set{series: found}
}

func matches(metric labels.Labels, matchers []*labels.Matcher) bool {
	for _, m := range matchers {
		if !m.Matches(metric.Get(m.Name)) {
			return false
		}
	}
	return true
}

type sample struct {
	t int64
	v float64
}

func (s sample) T() int64   { return s.t }
func (s sample) V() float64 { return s.v }

// set is a storage.SeriesSet.
type set struct {
	series []storage.Series
	next   int
}

func (s *set) Next() bool                 { s.next++; return s.next <= len(s.series) }
func (s *set) At() storage.Series         { return s.series[s.next-1] }
func (s *set) Err() error                 { return nil }
func (s *set) Warnings() storage.Warnings { return nil }

const interval = time.Minute // of evaluations

// fires returns when an alert first fires: its expression has had a result at each evaluation for the time that its
// rule states. It returns a negative time if the alert never fires.
func (s samples) fires(engine *promql.Engine, r rule) time.Duration {
	s.t.Helper()
	query, err := engine.NewRangeQuery(s, nil, r.Expr, begin, begin.Add(s.length), interval)
	if err != nil {
		s.t.Fatalf("%s: %v", r.Alert, err)
	}
	defer query.Close()
	result := query.Exec(s.t.Context())
	matrix, err := result.Matrix()
	if err != nil {
		s.t.Fatalf("%s: %v", r.Alert, err)
	}
	first := time.Duration(-1)
	for _, of := range matrix {
		since := of.Points[0].T
		for i, p := range of.Points {
			if i > 0 && p.T-of.Points[i-1].T > interval.Milliseconds() {
				since = p.T
			}
			at := time.UnixMilli(p.T).Sub(begin)
			if p.T-since >= r.lasting(s.t).Milliseconds() && (first < 0 || at < first) {
				first = at
			}
		}
	}
	return first
}
