package speed

import (
	"math"
	"testing"
)

func TestSlope_IsOfTheSecondHalf(t *testing.T) {
	t.Parallel()
	var s Soak
	for i := range 20 { // it grows by 60 a minute, and from the middle on by 2
		value := 60 * float64(min(i, 10))
		s.Readings = append(s.Readings, Reading{Seconds: float64(i) * 60, Goroutines: value + 2*float64(max(0, i-10))})
	}
	of := func(r Reading) float64 { return r.Goroutines }
	if got := s.slope(of); math.Abs(got-120) > 1e-6 {
		t.Errorf("%f an hour, want 120", got)
	}
	if got := (Soak{Readings: s.Readings[:1]}).slope(of); got != 0 {
		t.Errorf("one reading has a slope of %f", got)
	}
}
