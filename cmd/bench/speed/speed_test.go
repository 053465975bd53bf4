package speed

import (
	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/measure"
	"strings"
	"testing"
)

type sample = measure.Sample

func TestCheck_ReportsMissedTargets(t *testing.T) {
	t.Parallel()
	floor := sample{Requests: 1, P50: 2, P95: 4, PerSecond: 100}
	large := func(name string, clients int, s sample) Pair {
		return Pair{Name: name, Data: "1000 users of 100", Clients: clients, Floor: floor, Server: s}
	}
	of := func(data string, clients int, s sample) Pair {
		return Pair{Name: "recall", Data: data, Clients: clients, Floor: floor, Server: s}
	}
	small := func(name, data string, s sample) Pair {
		return Pair{Name: name, Data: data, Clients: 1, Server: s}
	}
	recall := func(users int, p95 float64) Pair {
		return Pair{
			Name: "recall", Data: content.Data{Users: users, Each: 100}.String(), Clients: 1,
			Floor: floor, Server: sample{P50: 99, P95: p95},
		}
	}
	for name, c := range map[string]struct {
		Report
		misses int
	}{
		"all met": {Report{Pairs: []Pair{
			large("recall", 1, sample{P50: 2.5, P95: 6}), large("recall", 8, sample{PerSecond: 75}),
			large("write", 1, sample{P50: 2.6}),
		}, Loads: []Load{{Memories: 100_000, PerSecond: 5000, Memory: measure.Memory{Proportional: 150 << 20}}}}, 0},
		"all missed": {Report{Size: "postgres+milvus", Pairs: []Pair{
			large("recall", 1, sample{P50: 2.6, P95: 6.1}), large("recall", 8, sample{PerSecond: 74}),
			large("turn", 1, sample{P50: 3.1}),
		}, Loads: []Load{{Memories: 100_000, PerSecond: 4999, Memory: measure.Memory{Proportional: 151 << 20}}}}, 6},
		"other sizes have no ratios": {Report{Pairs: []Pair{recall(100, 5), recall(10_000, 10)}}, 0},
		"grown too much":             {Report{Pairs: []Pair{recall(100, 5), recall(10_000, 10.1)}}, 1},
		"SQLite met": {Report{Size: "sqlite", Pairs: []Pair{
			small("recall", "5 users of 1000", sample{P50: 3.9, P99: 11}),
			small("recall", "1 users of 10000", sample{P50: 14}), small("first recall", "1 users of 10000", sample{P50: 59}),
			small("write", "5 users of 1000", sample{PerSecond: 500}),
		}}, 0},
		"SQLite missed": {Report{Size: "sqlite", Pairs: []Pair{
			small("recall", "5 users of 1000", sample{P50: 3, P99: 9}),
			small("recall", "1 users of 10000", sample{P50: 15}), small("first recall", "1 users of 10000", sample{P50: 60}),
			small("write", "5 users of 1000", sample{PerSecond: 499}),
		}}, 4},
		"many memories of a user met": {Report{Pairs: []Pair{
			of("100 users of 1000", 8, sample{PerSecond: 75}), of("3 users of 10000", 1, sample{P50: 3}),
			of("1 users of 100000", 1, sample{P50: 29}),
		}}, 0},
		"many memories of a user missed": {Report{Pairs: []Pair{
			of("10 users of 1000", 8, sample{PerSecond: 74}), of("3 users of 10000", 1, sample{P50: 3.1}),
			of("1 users of 100000", 1, sample{P50: 30}),
		}}, 3},
	} {
		got := 0
		if err := c.Check(); err != nil {
			got = strings.Count(err.Error(), "missed: ")
		}
		if got != c.misses {
			t.Errorf("%s: %d misses, not %d: %v", name, got, c.misses, c.Check())
		}
	}
}
