package speed

import (
	"strings"
	"testing"
	"time"
)

func TestWord_HasUniqueStems(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for n := range 20_000 {
		if m, double := seen[word(n)]; double {
			t.Fatalf("words %d and %d are both %q", m, n, word(n))
		}
		seen[word(n)] = n
	}
}

func TestParseData_ReadsUsersAndMemories(t *testing.T) {
	t.Parallel()
	if d, err := ParseData("1000x100"); err != nil || d.memories() != 100_000 {
		t.Errorf("1000x100 is %+v, %v", d, err)
	}
	for _, text := range []string{"", "5", "x", "0x5", "5x0", "-1x5", "fivexfive"} {
		if _, err := ParseData(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestSample_ComputesPercentiles(t *testing.T) {
	t.Parallel()
	var ts times
	for i := 100; i > 0; i-- {
		ts.latencies = append(ts.latencies, time.Duration(i)*time.Millisecond)
	}
	ts.took, ts.cpu = 2*time.Second, time.Second
	want := Sample{Requests: 100, P50: 51, P95: 96, P99: 100, PerSecond: 50, CPU: 10}
	if got := ts.sample(); got != want {
		t.Errorf("the sample is %+v, not %+v", got, want)
	}
}

func TestCheck_ReportsMissedTargets(t *testing.T) {
	t.Parallel()
	floor := Sample{Requests: 1, P50: 2, P95: 4, PerSecond: 100}
	large := func(name string, clients int, s Sample) Pair {
		return Pair{Name: name, Data: "1000 users of 100", Clients: clients, Floor: floor, Server: s}
	}
	small := func(name, data string, s Sample) Pair { return Pair{Name: name, Data: data, Clients: 1, Server: s} }
	recall := func(users int, p95 float64) Pair {
		return Pair{
			Name: "recall", Data: Data{Users: users, Each: 100}.String(), Clients: 1,
			Floor: floor, Server: Sample{P50: 99, P95: p95},
		}
	}
	for name, c := range map[string]struct {
		Report
		misses int
	}{
		"all met": {Report{Pairs: []Pair{
			large("recall", 1, Sample{P50: 2.5, P95: 6}), large("recall", 8, Sample{PerSecond: 75}),
			large("write", 1, Sample{P50: 2.6}),
		}, Loads: []Load{{Memories: 100_000, PerSecond: 5000, Resident: 150 << 20}}}, 0},
		"all missed": {Report{Size: "postgres+milvus", Pairs: []Pair{
			large("recall", 1, Sample{P50: 2.6, P95: 6.1}), large("recall", 8, Sample{PerSecond: 74}),
			large("turn", 1, Sample{P50: 3.1}),
		}, Loads: []Load{{Memories: 100_000, PerSecond: 4999, Resident: 151 << 20}}}, 6},
		"other sizes have no ratios": {Report{Pairs: []Pair{recall(100, 5), recall(10_000, 10)}}, 0},
		"grown too much":             {Report{Pairs: []Pair{recall(100, 5), recall(10_000, 10.1)}}, 1},
		"SQLite met": {Report{Size: "sqlite", Pairs: []Pair{
			small("recall", "5 users of 1000", Sample{P50: 4.9}), small("recall", "1 users of 10000", Sample{P50: 24}),
			small("write", "5 users of 1000", Sample{PerSecond: 500}),
		}}, 0},
		"SQLite missed": {Report{Size: "sqlite", Pairs: []Pair{
			small("recall", "5 users of 1000", Sample{P50: 5}), small("recall", "1 users of 10000", Sample{P50: 25}),
			small("write", "5 users of 1000", Sample{PerSecond: 499}),
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
