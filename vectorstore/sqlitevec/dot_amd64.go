package sqlitevec

import "golang.org/x/sys/cpu"

// maxKernel is the most numbers of one call of dotAVX2.
const maxKernel = 4096

// dot is the dot product of two vectors of the same dimension.
func dot(a []int16, b []int8) (sum int) {
	if !cpu.X86.HasAVX2 {
		return portableDot(a, b)
	}
	for len(a) >= 16 {
		n := min(len(a)&^15, maxKernel)
		sum += dotAVX2(a[:n], b[:n])
		a, b = a[n:], b[n:]
	}
	return sum + portableDot(a, b)
}

//go:noescape
func dotAVX2(a []int16, b []int8) int
