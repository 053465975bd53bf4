package speed

import (
	"strings"
	"testing"
	"time"
)

func TestWordsAreApart(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for n := range 20_000 {
		if m, double := seen[word(n)]; double {
			t.Fatalf("words %d and %d are both %q", m, n, word(n))
		}
		seen[word(n)] = n
	}
}

func TestParseData(t *testing.T) {
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

func TestSample(t *testing.T) {
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

func TestCheck(t *testing.T) {
	t.Parallel()
	floor := Sample{Requests: 1, P50: 2, P95: 4, PerSecond: 100}
	good := Pair{Name: "recall", Clients: 1, Floor: floor, Server: Sample{P50: 2.5, P95: 6, PerSecond: 80}}
	if err := (Report{Pairs: []Pair{good}}).Check(); err != nil {
		t.Errorf("what meets its targets is refused: %v", err)
	}
	bad := good
	bad.Server.P95 = 6.1
	many := Pair{Name: "recall", Clients: 8, Floor: floor, Server: Sample{PerSecond: 74}}
	err := Report{Pairs: []Pair{bad, many}, Loads: []Load{{Resident: 151 << 20}}}.Check()
	if err == nil || strings.Count(err.Error(), "missed: ") != 3 {
		t.Errorf("three misses give %v", err)
	}
}
