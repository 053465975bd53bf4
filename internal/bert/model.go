// Package bert is a small transformer that runs in Go alone. It embeds texts with Chinese characters by
// bge-small-zh-v1.5 (BERT of 4 layers and 512 numbers, 8 heads):
//
//	text -> pieces, at most MaxPieces -> rows + positions -> 4 x (attention, feed-forward) -> [CLS], unit length
//	     -> principal axes of Chinese sentences, without their mean                        -> Dim numbers
//
// The matrices have int8 weights. Activations are rounded to 8 bits for each token, so that products are sums of
// integers, which are exact in any order. What remains is computed in one order without fused operations. Therefore
// a text has the same vector on every machine, with and without the kernels in assembly.
package bert

import (
	"context"
	"math"
	"sync"

	"hippocampus/internal/wordpiece"
)

// Dim is the length of an embedding.
const Dim = 192

// MaxPieces is the number of pieces that are read of a text, with [CLS] at the beginning and [SEP] at the end.
const MaxPieces = 256

const (
	layers     = 4
	hidden     = 512 // numbers of a token
	inner      = 2048
	heads      = 8
	headHidden = hidden / heads
)

// Model is the transformer. Several goroutines may use it.
type Model struct {
	*weights
	kernels kernels
	pool    *sync.Pool // of *scratch
}

// Load returns the transformer. The first call takes milliseconds. The weights are pages of the program's file, which
// are read when the first texts are embedded.
var Load = sync.OnceValue(func() *Model { return newModel(fastest()) })

func newModel(k kernels) *Model {
	return &Model{weights: loadWeights(), kernels: k, pool: &sync.Pool{New: func() any { return &scratch{} }}}
}

// Embed writes the embedding of a text to vector, which has Dim numbers. Its length is at most 1, and differs
// between texts. It fails only if ctx is done. It takes milliseconds for 20 characters.
func (m *Model) Embed(ctx context.Context, text string, vector []float32) error {
	s := m.pool.Get().(*scratch)
	defer m.pool.Put(s)
	s.read(m.vocabulary, text)
	first, err := m.run(ctx, s)
	if err != nil {
		return err
	}
	unit := normalise(first)
	m.kernels.floatDots(vector, unit, m.axes, hidden)
	for i := range vector {
		vector[i] -= m.centre[i]
	}
	return nil
}

// normalise scales a vector to unit length in place. The zero vector stays.
func normalise(v []float32) []float32 {
	square := 0.0
	for _, x := range v {
		square += float64(float64(x) * float64(x))
	}
	if square > 0 {
		by := 1 / math.Sqrt(square)
		for i, x := range v {
			v[i] = float32(float64(x) * by)
		}
	}
	return v
}

// scratch is the working memory of an embedding, for the longest text that it has served.
type scratch struct {
	splitter wordpiece.Splitter
	pieces   []int32

	states     []float32 // tokens x hidden
	queries    []float32
	keys       []float32
	values     []float32 // hidden x tokens, padded
	attended   []float32
	scores     []float32 // of one token
	quantised  quantised
	projected  []float32 // chunk x hidden
	activation []float32 // chunk x inner
}

// read sets the pieces of a text.
func (s *scratch) read(v *vocabulary, text string) {
	s.pieces = append(s.pieces[:0], v.first)
	s.splitter.Reset(text)
	for len(s.pieces) < MaxPieces && s.splitter.Scan() {
		s.pieces = v.AppendWord(s.pieces, &s.splitter)
	}
	s.pieces = append(s.pieces[:min(len(s.pieces), MaxPieces-1)], v.last)
}

// grow returns a slice of n numbers whose values do not matter.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
