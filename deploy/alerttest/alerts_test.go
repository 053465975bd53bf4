package alerttest

import (
	"math"
	"os"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
	"gopkg.in/yaml.v3"
)

type rule struct {
	Alert string `yaml:"alert"`
	Expr  string `yaml:"expr"`
	For   string `yaml:"for"`
}

// lasting returns how long the expression must have a result before the alert fires.
func (r rule) lasting(t *testing.T) time.Duration {
	t.Helper()
	if r.For == "" {
		return 0
	}
	d, err := time.ParseDuration(r.For)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func rules(t *testing.T) map[string]rule {
	t.Helper()
	text, err := os.ReadFile("../alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Rules []rule `yaml:"rules"`
		} `yaml:"groups"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	all := map[string]rule{}
	for _, r := range file.Groups[0].Rules {
		all[r.Alert] = r
	}
	return all
}

func newEngine() *promql.Engine {
	return promql.NewEngine(promql.EngineOpts{
		MaxSamples: 10_000_000, Timeout: time.Minute, LookbackDelta: 5 * time.Minute,
	})
}

// healthy are the series of a server that does its work.
var healthy = map[string]series{
	`hippocampus_turns_lag_seconds`:                                                      is(2),
	`hippocampus_http_requests_total{code="200",url="/v1/recall"}`:                       grows(20),
	`hippocampus_http_requests_total{code="503",url="/v1/recall"}`:                       grows(0.01),
	`hippocampus_http_request_duration_seconds_bucket{url="/v1/recall",le="0.1"}`:        grows(19),
	`hippocampus_http_request_duration_seconds_bucket{url="/v1/recall",le="1"}`:          grows(19.9),
	`hippocampus_http_request_duration_seconds_bucket{url="/v1/recall",le="10"}`:         grows(20),
	`hippocampus_http_request_duration_seconds_bucket{url="/v1/recall",le="+Inf"}`:       grows(20),
	`hippocampus_http_request_duration_seconds_bucket{url="/v1/admin/verify",le="10"}`:   grows(0),
	`hippocampus_http_request_duration_seconds_bucket{url="/v1/admin/verify",le="+Inf"}`: grows(20),
	`hippocampus_requests_refused_total{limit="api.max_inflight"}`:                       grows(0),
	`hippocampus_turns_total{outcome="processed"}`:                                       grows(5),
	`hippocampus_turns_total{outcome="deferred"}`:                                        grows(0.1),
	`hippocampus_turns_total{outcome="failed"}`:                                          grows(0),
	`hippocampus_candidates_total{verdict="kept"}`:                                       grows(10),
	`hippocampus_candidates_total{verdict="invalid"}`:                                    grows(0.1),
	`hippocampus_degraded_total{part="router"}`:                                          grows(0.01),
	`hippocampus_routes_total{by="model"}`:                                               grows(20),
	`hippocampus_routes_total{by="late"}`:                                                grows(1),
	`hippocampus_prompt_calls_total{prompt="score"}`:                                     grows(5),
	`hippocampus_prompt_failed_total{prompt="score"}`:                                    grows(0.1),
	`hippocampus_prompt_refused_total{prompt="score"}`:                                   grows(0.1),
	`hippocampus_vectors_waiting{older_than="10m"}`:                                      is(0),
	`hippocampus_vectors_drift{kind="missing"}`:                                          is(0),
	`hippocampus_vectors_verified_timestamp_seconds`:                                     {gauge: now},
}

func now(at time.Duration) float64 { return float64(begin.Add(at).Unix()) }

// faults are the series that change in the fault of each alert.
var faults = map[string]map[string]series{
	"HippocampusAbsent": {`hippocampus_turns_lag_seconds`: is(math.NaN())},
	"HippocampusErrors": {`hippocampus_http_requests_total{code="503",url="/v1/recall"}`: grows(2)},
	"HippocampusSlowRecall": {
		`hippocampus_http_request_duration_seconds_bucket{url="/v1/recall",le="0.1"}`: grows(2),
		`hippocampus_http_request_duration_seconds_bucket{url="/v1/recall",le="1"}`:   grows(4),
	},
	"HippocampusShedsRequests": { // answers with 503 do not count as errors
		`hippocampus_http_requests_total{code="503",url="/v1/recall"}`: grows(3),
		`hippocampus_requests_refused_total{limit="api.max_inflight"}`: grows(3),
	},
	"HippocampusTurnsLag":      {`hippocampus_turns_lag_seconds`: is(900)},
	"HippocampusTurnsFail":     {`hippocampus_turns_total{outcome="failed"}`: grows(0.01)},
	"HippocampusTurnsDeferred": {`hippocampus_turns_total{outcome="deferred"}`: grows(4)},
	"HippocampusScorerInvalid": {`hippocampus_candidates_total{verdict="invalid"}`: grows(4)},
	"HippocampusDegraded":      {`hippocampus_degraded_total{part="router"}`: grows(1)},
	"HippocampusRouterLate":    {`hippocampus_routes_total{by="late"}`: grows(40)},
	"HippocampusModelFails":    {`hippocampus_prompt_failed_total{prompt="score"}`: grows(2)},
	"HippocampusVectorsWait":   {`hippocampus_vectors_waiting{older_than="10m"}`: is(12)},
	"HippocampusStoresDiffer":  {`hippocampus_vectors_drift{kind="missing"}`: is(3)},
	"HippocampusNotVerified": {`hippocampus_vectors_verified_timestamp_seconds`: {
		gauge: func(at time.Duration) float64 { return now(at) - 3*86400 },
	}},
}

const (
	faulty = 2 * time.Hour // when a fault begins
	length = 6 * time.Hour
)

// during returns the healthy series, with some changed for a time.
func during(t *testing.T, changes map[string]series, lasts time.Duration) samples {
	t.Helper()
	for name := range changes {
		if _, known := healthy[name]; !known {
			t.Fatalf("there is no healthy series %s", name)
		}
	}
	return samples{t, healthy, fault{faulty, faulty + lasts, changes}, length}
}

// An alert fires once its fault has lasted for the time that its rule states, and no other alert does.
func TestAlerts_FireAtTheirFaultAlone(t *testing.T) {
	t.Parallel()
	engine, all := newEngine(), rules(t)
	if len(all) != len(faults) {
		t.Errorf("there are %d rules, and faults for %d", len(all), len(faults))
	}
	for of, changes := range faults {
		t.Run(of, func(t *testing.T) {
			t.Parallel()
			s := during(t, changes, length)
			for name, r := range all {
				at := s.fires(engine, r)
				earliest := faulty + r.lasting(t)
				switch {
				case name != of && at >= 0:
					t.Errorf("%s fires at %v", name, at)
				case name == of && (at < earliest || at > earliest+75*time.Minute): // rates are taken over an hour at most
					t.Errorf("%s fires at %v, and its fault begins at %v", name, at, faulty)
				case name == of:
					t.Logf("it fires %v after its fault begins", at-faulty)
				}
			}
		})
	}
}

func TestAlerts_StaySilentWithHealthySeries(t *testing.T) {
	t.Parallel()
	engine, s := newEngine(), during(t, nil, 0)
	for name, r := range rules(t) {
		if at := s.fires(engine, r); at >= 0 {
			t.Errorf("%s fires at %v", name, at)
		}
	}
}

// A fault that ends before the time of its rule does not fire the alert.
func TestAlerts_StaySilentAtAShortFault(t *testing.T) {
	t.Parallel()
	engine, all := newEngine(), rules(t)
	for name, lasts := range map[string]time.Duration{
		"HippocampusAbsent": 5 * time.Minute, "HippocampusTurnsLag": 4 * time.Minute,
		"HippocampusSlowRecall": 2 * time.Minute, "HippocampusVectorsWait": 9 * time.Minute,
	} {
		if at := during(t, faults[name], lasts).fires(engine, all[name]); at >= 0 {
			t.Errorf("%s fires at %v", name, at)
		}
	}
}
