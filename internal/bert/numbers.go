package bert

import (
	"math"
	"sync"
)

// A conversion of a product in this file prevents a fused multiply-add, which some processors have.

// normEpsilon keeps the variance of a layer normalisation above zero.
const normEpsilon = 1e-12

// apply normalises a state to the mean 0 and the variance 1, and then scales and shifts it.
func (n norm) apply(state []float32) {
	sum := 0.0
	for _, x := range state {
		sum += float64(x)
	}
	mean := sum / float64(len(state))
	squares := 0.0
	for _, x := range state {
		d := float64(x) - mean
		squares += float64(d * d)
	}
	by := float32(1 / math.Sqrt(squares/float64(len(state))+normEpsilon))
	centre := float32(mean)
	for i, x := range state {
		state[i] = float32(float32((x-centre)*by)*n.gain[i]) + n.bias[i]
	}
}

// The table of gelu covers -geluEnd..geluEnd in steps of 1/geluSteps.
const (
	geluEnd   = 8
	geluSteps = 512
)

// makeGeluTable takes a millisecond. Only a program that embeds Chinese calls it.
var makeGeluTable = sync.OnceValue(func() *[2*geluEnd*geluSteps + 1]float32 {
	var table [2*geluEnd*geluSteps + 1]float32
	for i := range table {
		x := float64(i)/geluSteps - geluEnd
		table[i] = float32(x * 0.5 * (1 + erf(x/math.Sqrt2)))
	}
	return &table
})

// gelu replaces each x by x * P(X <= x), where X has the standard normal distribution, with an error below 1e-6.
func gelu(list []float32) {
	table := makeGeluTable()
	for i, x := range list {
		switch {
		case x <= -geluEnd:
			list[i] = 0
		case x < geluEnd:
			place := (x + geluEnd) * geluSteps
			at := min(int(place), len(table)-2)
			low := table[at]
			list[i] = low + float32((place-float32(at))*(table[at+1]-low))
		}
	}
}

// erf is the error function: formula 7.1.26 of Abramowitz and Stegun, with an error below 1.5e-7.
func erf(x float64) float64 {
	sign := 1.0
	if x < 0 {
		sign, x = -1, -x
	}
	t := 1 / (1 + float64(0.3275911*x))
	sum := 0.0
	for _, factor := range []float64{1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592} {
		sum = float64(sum*t) + factor
	}
	return sign * (1 - float64(float64(sum*t)*exp(-float64(x*x))))
}

// The least argument of exp, and ln 2 in two parts. The first part has few bits, so that its product is exact.
const (
	least   = -700
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
)

// exp is the exponential function for x <= 0, with a relative error below 1e-9. That of package math differs between
// processors.
func exp(x float64) float64 {
	if x < least {
		return 0
	}
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	r := x - float64(k*ln2High) - float64(k*ln2Low) // within -0.35..0.35
	sum := 1.0
	for i := 8; i > 0; i-- { // the Taylor series
		sum = float64(float64(sum*r)*inverse[i]) + 1
	}
	return sum * math.Float64frombits(uint64(int64(k)+1023)<<52)
}

var inverse = [...]float64{0, 1, 1. / 2, 1. / 3, 1. / 4, 1. / 5, 1. / 6, 1. / 7, 1. / 8}
