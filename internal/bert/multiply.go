package bert

// quantised are rows of numbers, each rounded to 8 bits on a scale of its own: x = scale * (q - zero).
type quantised struct {
	rows   int
	values []byte // rows x width; rows are padded to a multiple of tile
	scales []float32
	zeros  []int32
	sums   [block * tile]int32 // of products, while they are computed
}

// tile is the number of rows that a kernel multiplies at a time.
const tile = 4

// set quantises rows of width numbers.
func (q *quantised) set(list []float32, width int) {
	q.rows = len(list) / width
	padded := (q.rows + tile - 1) / tile * tile
	q.values = grow(q.values, padded*width)
	q.scales = grow(q.scales, q.rows)
	q.zeros = grow(q.zeros, q.rows)
	clear(q.values[q.rows*width:])
	for row := range q.rows {
		q.scales[row], q.zeros[row] = quantise(q.values[row*width:][:width], list[row*width:][:width])
	}
}

const most8 = 255 // the greatest number of 8 bits

// quantise rounds a row. Zero is a value of its own, as in onnxruntime's DynamicQuantizeLinear.
func quantise(out []byte, row []float32) (scale float32, zero int32) {
	var low, high float32
	for _, x := range row {
		low, high = min(low, x), max(high, x)
	}
	if low == high {
		clear(out)
		return 0, 0
	}
	scale = (high - low) / most8
	by := most8 / (high - low)
	zero = int32(float32(-low*by) + 0.5)
	shift := float32(zero) + 0.5
	for i, x := range row {
		out[i] = byte(min(max(int32(float32(x*by)+shift), 0), most8))
	}
	return scale, zero
}

// block is the number of outputs that are computed for all tokens before the next, so that their weights stay in the
// processor's cache.
const block = 32

// multiply sets out to the product of a matrix and each row, rows x outputs numbers.
func (m *Model) multiply(out []float32, by *matrix, in *quantised) {
	sums := in.sums[:]
	for first := 0; first < by.outputs; first += block {
		weights := by.weights[first*by.inputs:][:block*by.inputs]
		for row := 0; row < in.rows; row += tile {
			m.kernels.tileDots(sums, weights, in.values[row*by.inputs:][:tile*by.inputs])
			for i := range min(tile, in.rows-row) {
				at := row + i
				by.finish(out[at*by.outputs+first:][:block], sums[i:], first, in.scales[at], in.zeros[at])
			}
		}
	}
}

// finish turns sums of one row of the tile, every tile-th, into outputs from the first.
func (m *matrix) finish(out []float32, sums []int32, first int, scale float32, zero int32) {
	rowSums := m.sums[first:][:len(out)]
	scales, bias := m.scales[first:][:len(out)], m.bias[first:][:len(out)]
	for i := range out {
		sum := sums[i*tile] - zero*rowSums[i]
		out[i] = float32(float32(sum)*float32(scale*scales[i])) + bias[i]
	}
}
