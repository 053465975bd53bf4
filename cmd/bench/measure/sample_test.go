package measure

import (
	"testing"
	"time"
)

func TestSample_ComputesPercentiles(t *testing.T) {
	t.Parallel()
	var ts Times
	for i := 100; i > 0; i-- {
		ts.Latencies = append(ts.Latencies, time.Duration(i)*time.Millisecond)
	}
	ts.Took, ts.CPU = 2*time.Second, time.Second
	want := Sample{Requests: 100, P50: 51, P95: 96, P99: 100, PerSecond: 50, CPU: 10}
	if got := ts.Sample(); got != want {
		t.Errorf("the sample is %+v, not %+v", got, want)
	}
}
