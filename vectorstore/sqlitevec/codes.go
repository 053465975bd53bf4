package sqlitevec

import (
	"cmp"
	"math"
	"slices"
)

// codes is a vector of unit length in 8 bits a number: v[i] is about scale * numbers[i].
type codes struct {
	numbers []int8
	scale   float32
	err     float32 // Euclidean distance to the vector
}

func encoded(v []float32) codes {
	const most = 127
	scale, inverse := scaleOf(v, most)
	c := codes{numbers: make([]int8, len(v)), scale: float32(scale)}
	var square float64
	for i, x := range v {
		c.numbers[i] = int8(math.Round(float64(x) * inverse))
		d := float64(x) - float64(c.scale)*float64(c.numbers[i])
		square += d * d
	}
	c.err = float32(math.Sqrt(square))
	return c
}

// queryCodes is a query of unit length in 16 bits a number.
type queryCodes struct {
	numbers    []int16
	scale, err float64
}

func encodedQuery(v []float32) queryCodes {
	scale, inverse := scaleOf(v, math.MaxInt16)
	q := queryCodes{numbers: make([]int16, len(v)), scale: scale}
	var square float64
	for i, x := range v {
		q.numbers[i] = int16(math.Round(float64(x) * inverse))
		d := float64(x) - scale*float64(q.numbers[i])
		square += d * d
	}
	q.err = math.Sqrt(square)
	return q
}

// scaleOf returns the scale at which the largest number of v is most, and its inverse.
func scaleOf(v []float32, most float64) (scale, inverse float64) {
	var largest float64
	for _, x := range v {
		largest = max(largest, math.Abs(float64(x)))
	}
	if largest == 0 {
		return 0, 0
	}
	return largest / most, most / largest
}

// bounds returns the least and the greatest cosine that a vector may have to the query.
// With codes q' and v', q*v - q'*v' = q*(v-v') + (q-q')*v', whose terms are at most
// |v-v'| and |q-q'|*|v'|, by Cauchy and Schwarz. |v'| is at most 1+|v-v'|.
func (q *queryCodes) bounds(c *codes) (least, most float64) {
	const rounding = 1e-6 // of sums of 32-bit floats
	cosine := q.scale * float64(c.scale) * float64(dot(q.numbers, c.numbers))
	err := float64(c.err) + q.err*(1+float64(c.err)) + rounding
	return cosine - err, cosine + err
}

// portableDot is dot for every processor.
func portableDot(a []int16, b []int8) int {
	var s0, s1, s2, s3 int
	b = b[:len(a)]
	for len(a) >= 8 && len(b) >= 8 {
		s0 += int(a[0])*int(b[0]) + int(a[4])*int(b[4])
		s1 += int(a[1])*int(b[1]) + int(a[5])*int(b[5])
		s2 += int(a[2])*int(b[2]) + int(a[6])*int(b[6])
		s3 += int(a[3])*int(b[3]) + int(a[7])*int(b[7])
		a, b = a[8:], b[8:]
	}
	for i, x := range a {
		s0 += int(x) * int(b[i])
	}
	return s0 + s1 + s2 + s3
}

// contenders collects the rows that may be among the nearest.
type contenders struct {
	limit int // number of the nearest
	rows  []contender
	lows  []float64 // greatest lower bounds: at least limit of them, once there are so many
	least float64   // cosine that at least limit rows reach
}

type contender struct {
	row  *row
	most float64 // its cosine
}

func newContenders(limit int) *contenders {
	return &contenders{limit: limit, least: math.Inf(-1)}
}

// add considers a row by the bounds of its cosine.
func (c *contenders) add(r *row, least, most float64) {
	if most < c.least {
		return
	}
	c.rows = append(c.rows, contender{row: r, most: most})
	c.lows = append(c.lows, least)
	if len(c.lows) == 2*c.limit {
		c.cut()
	}
}

func (c *contenders) cut() {
	slices.SortFunc(c.lows, func(a, b float64) int { return cmp.Compare(b, a) })
	c.lows = c.lows[:c.limit]
	c.least = c.lows[c.limit-1]
}

// all returns the rows that may be among the nearest.
func (c *contenders) all() []contender {
	if len(c.lows) >= c.limit {
		c.cut()
	}
	return slices.DeleteFunc(c.rows, func(r contender) bool { return r.most < c.least })
}
