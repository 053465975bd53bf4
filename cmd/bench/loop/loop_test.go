package loop

import (
	"errors"
	"io"
	"math"
	"slices"
	"testing"
	"time"

	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/target"
)

func TestSizes_AreLogNormalBetweenBounds(t *testing.T) {
	t.Parallel()
	sizes := Sizes(1001, 50, 20_000)
	if !slices.IsSorted(sizes) || sizes[0] != 50 || sizes[1000] != 20_000 || sizes[500] != 1000 {
		t.Errorf("first, middle and last size are %d, %d and %d", sizes[0], sizes[500], sizes[1000])
	}
	// The logarithms of the sizes are normally distributed, and ln(20) from their mean is 3.29 standard deviations.
	within := 0
	for _, n := range sizes {
		if z := math.Abs(math.Log(float64(n)/1000) / math.Log(20) * 3.29); z <= 1 {
			within++
		}
	}
	if share := float64(within) / 1001; share < 0.67 || share > 0.70 {
		t.Errorf("%.3f of the users are within one deviation, not .683", share)
	}
	if one := Sizes(1, 10, 1000); one[0] != 100 {
		t.Errorf("one user has %d memories, not the median", one[0])
	}
}

func TestHighest_FindsTheLimit(t *testing.T) {
	t.Parallel()
	for _, limit := range []float64{4, 5.7, 63, 64, 1000} {
		tried := 0
		got, err := highest(func(rate float64) (bool, error) {
			tried++
			return rate <= limit, nil
		})
		if err != nil || got > limit || got < limit/1.1 || tried > 13 {
			t.Errorf("the limit %g is found as %g, %v, by %d tries", limit, got, err, tried)
		}
	}
	if got, err := highest(func(float64) (bool, error) { return false, nil }); err != nil || got != 0 {
		t.Errorf("without a sustainable rate it is %g, %v", got, err)
	}
	failure := errors.New("failure")
	if _, err := highest(func(float64) (bool, error) { return false, failure }); !errors.Is(err, failure) {
		t.Errorf("the error of a try becomes %v", err)
	}
}

func TestTraffic_LetsEveryUserVisit(t *testing.T) {
	t.Parallel()
	traffic := newTraffic(nil, content.Texts{}, 20, 4)
	seen := map[string]int{}
	for place := range traffic.places {
		for range 5 * visit {
			user, _ := traffic.guest(place)
			seen[user]++
		}
	}
	if len(seen) != 20 {
		t.Errorf("%d of 20 users came", len(seen))
	}
	for user, turns := range seen {
		if turns != visit {
			t.Errorf("%s had %d turns, not %d", user, turns, visit)
		}
	}
}

func TestRun_MeasuresEmbeddedServer(t *testing.T) {
	t.Parallel()
	r, err := Run(t.Context(), Options{
		Size: target.Small, Users: 10, Least: 5, Most: 50, Active: 0.2, Servers: 1, Rate: 10, For: time.Second,
		Rest: time.Millisecond, Progress: io.Discard,
		Texts: content.Texts{Contents: []string{"Ana: I like tea.", "Ben: So do I."}, Queries: []string{"What tea?"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Errors != 0 || r.Context.Requests == 0 || r.Context.Requests != r.Turn.Requests || r.Context.P99 < r.Context.P50 {
		t.Errorf("%d errors, contexts %+v, turns %+v", r.Errors, r.Context, r.Turn)
	}
	if r.Turn.Requests != 10 {
		t.Errorf("%d turns were sent in a second, not 10", r.Turn.Requests)
	}
	names := []string{}
	for _, p := range r.Processes {
		names = append(names, p.Name)
		if p.Memory < 1<<20 {
			t.Errorf("%s holds %d bytes", p.Name, p.Memory)
		}
	}
	if !slices.Equal(names, []string{"server", "bench"}) || r.Processes[0].CPU <= 0 {
		t.Errorf("the processes are %+v", r.Processes)
	}
	if err := r.Print(io.Discard); err != nil {
		t.Error(err)
	}
}
