package bert

// kernels are the loops that take most of the time. All implementations return the same bits.
type kernels struct {
	// tileDots multiplies each row of weights (int8 within -64..64) with each of the tile rows of values (uint8):
	// sums[i*tile+j] is the product of weights row i and values row j. Rows have len(values)/tile numbers, a
	// multiple of 32 of at most inner.
	tileDots func(sums []int32, weights string, values []byte)

	// floatDots sets out[i] to the product of x and rows[i*stride:][:len(x)]. The length of x is a multiple of lanes.
	floatDots func(out, x, rows []float32, stride int)
}

func portable() kernels { return kernels{tileDots: tileDots, floatDots: floatDots} }

// tileDots multiplies two values at a time, one in each half of an integer of 64 bits. The sum of a half has at most
// 2048*64*255 < 2^31.
func tileDots(sums []int32, weights string, values []byte) {
	var pairs [inner][tile / 2]int64
	width := len(values) / tile
	for i := range width {
		for j := range tile / 2 {
			pairs[i][j] = int64(values[2*j*width+i]) | int64(values[(2*j+1)*width+i])<<32
		}
	}
	for row := 0; row*tile < len(sums); row++ {
		var a, b int64
		for i, weight := range []byte(weights[row*width:][:width]) {
			w := int64(int8(weight))
			a += w * pairs[i][0]
			b += w * pairs[i][1]
		}
		out := sums[row*tile:][:tile]
		out[0], out[1] = halves(a)
		out[2], out[3] = halves(b)
	}
}

// halves returns the sums in the low and in the high half of an integer.
func halves(sum int64) (low, high int32) {
	low = int32(sum)
	return low, int32((sum - int64(low)) >> 32)
}

func floatDots(out, x, rows []float32, stride int) {
	for i := range out {
		row := rows[i*stride:][:len(x)]
		var sums [lanes]float32
		for j := 0; j < len(x); j += lanes {
			a, b := x[j:][:lanes], row[j:][:lanes]
			for lane := range sums {
				sums[lane] += float32(a[lane] * b[lane]) // the conversion prevents a fused multiply-add
			}
		}
		even := (sums[0] + sums[4]) + (sums[2] + sums[6])
		odd := (sums[1] + sums[5]) + (sums[3] + sums[7])
		out[i] = even + odd
	}
}
