package bert

import "golang.org/x/sys/cpu"

// fastest returns the kernels for this processor.
func fastest() kernels {
	if cpu.X86.HasAVX2 {
		return kernels{tileDots: tileDotsAVX2, floatDots: floatDotsAVX2}
	}
	return portable()
}

//go:noescape
func tileDotsAVX2(sums []int32, weights string, values []byte)

//go:noescape
func floatDotsAVX2(out, x, rows []float32, stride int)
