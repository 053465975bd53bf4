package loop

import "math"

// The ramp begins with this many turns a second, doubles the rate until it is too high,
// and halves the interval, on a logarithmic scale, this many times.
const (
	firstRate = 4.0
	halvings  = 3
)

// highest returns the highest rate that try found sustainable; 0: not even the lowest one.
func highest(try func(rate float64) (sustainable bool, err error)) (float64, error) {
	best, factor := 0.0, 2.0
	for rate := firstRate; ; rate *= factor {
		ok, err := try(rate)
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		best = rate
	}
	if best == 0 {
		return 0, nil
	}
	for range halvings {
		factor = math.Sqrt(factor)
		ok, err := try(best * factor)
		if err != nil {
			return 0, err
		}
		if ok {
			best *= factor
		}
	}
	return best, nil
}
