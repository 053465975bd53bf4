package bert

import (
	_ "embed"
	"encoding/binary"
	"math"
	"strings"

	"hippocampus/internal/wordpiece"
)

// weightsBytes is the output of scripts/transformer. Matrices of int8 are not copied: they stay in the pages of the
// program's file. Numbers of other types are read once.
//
//go:embed weights.bin
var weightsBytes string

// vocabularyText has one piece on each line.
//
//go:embed vocabulary.txt
var vocabularyText string

type vocabulary struct {
	*wordpiece.Vocabulary
	first, last int32 // [CLS] and [SEP]
}

// weights are the parameters of the model. Matrices have one row for each output.
type weights struct {
	vocabulary    *vocabulary
	words         string // int8, hidden numbers for each piece
	positions     string // int8, hidden numbers for each place in a text
	wordScale     float32
	positionScale float32
	kind          []float32 // added to each token: the segment embedding of the first text
	norm          norm
	layers        [layers]layer
	centre        []float32 // the mean of sentences on the axes
	axes          []float32 // Dim x hidden
}

type layer struct {
	query, key, value, output matrix // of attention
	attentionNorm             norm
	rise, fall                matrix // of the feed-forward part: to inner numbers and back
	norm                      norm
}

// matrix maps inputs to outputs: y = scale * (weights . x) + bias.
type matrix struct {
	inputs, outputs int
	weights         string  // int8 within -64..64, outputs x inputs
	sums            []int32 // of each row of weights
	scales, bias    []float32
}

// norm is the gain and the bias of a layer normalisation.
type norm struct{ gain, bias []float32 }

func loadWeights() *weights {
	names := strings.Split(strings.TrimSuffix(vocabularyText, "\n"), "\n")
	v := &vocabulary{Vocabulary: wordpiece.New(names)}
	v.first, _ = v.Number("[CLS]")
	v.last, _ = v.Number("[SEP]")
	w := &weights{vocabulary: v}
	r := weightsReader(weightsBytes)
	w.words = r.bytes(len(names) * hidden)
	w.positions = r.bytes(MaxPieces * hidden)
	scales := r.floats(2)
	w.wordScale, w.positionScale = scales[0], scales[1]
	w.kind = r.floats(hidden)
	w.norm = r.norm()
	for i := range w.layers {
		l := &w.layers[i]
		l.query = r.matrix(hidden, hidden)
		l.key = r.matrix(hidden, hidden)
		l.value = r.matrix(hidden, hidden)
		l.output = r.matrix(hidden, hidden)
		l.attentionNorm = r.norm()
		l.rise = r.matrix(hidden, inner)
		l.fall = r.matrix(inner, hidden)
		l.norm = r.norm()
	}
	mean := r.floats(hidden)
	w.axes = r.floats(Dim * hidden)
	w.centre = make([]float32, Dim)
	portable().floatDots(w.centre, mean, w.axes, hidden)
	return w
}

// weightsReader is the part of the weights that is not read yet.
type weightsReader string

func (r *weightsReader) bytes(n int) string {
	read := string(*r)[:n]
	*r = (*r)[n:]
	return read
}

func (r *weightsReader) floats(n int) []float32 {
	list := make([]float32, n)
	for i, bits := range r.numbers(n) {
		list[i] = math.Float32frombits(bits)
	}
	return list
}

func (r *weightsReader) numbers(n int) []uint32 {
	read := []byte(r.bytes(4 * n))
	list := make([]uint32, n)
	for i := range list {
		list[i] = binary.LittleEndian.Uint32(read[4*i:])
	}
	return list
}

func (r *weightsReader) norm() norm { return norm{gain: r.floats(hidden), bias: r.floats(hidden)} }

func (r *weightsReader) matrix(inputs, outputs int) matrix {
	m := matrix{inputs: inputs, outputs: outputs, weights: r.bytes(inputs * outputs), sums: make([]int32, outputs)}
	for i, sum := range r.numbers(outputs) {
		m.sums[i] = int32(sum)
	}
	m.scales, m.bias = r.floats(outputs), r.floats(outputs)
	return m
}
