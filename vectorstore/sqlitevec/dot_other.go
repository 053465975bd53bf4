//go:build !amd64

package sqlitevec

// dot is the dot product of two vectors of the same dimension.
func dot(a []int16, b []int8) int { return portableDot(a, b) }
