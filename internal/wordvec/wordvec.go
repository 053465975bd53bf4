// Package wordvec is the built-in embedder: it knows what English words mean
// without a model's runtime, from a table distilled from all-MiniLM-L6-v2.
//
//	text -> pieces of words -> sum of their rows         -> meaning    256 numbers
//	     -> characters of other scripts, pairs, hashed   -> characters 192
//	     -> words and neighbours, hashed; documents only -> signature   64
//	                                                     -> scaled to unit length
//
// A row is the longer the rarer its piece. The signature of a document has a
// constant length, and a query has none: so a document of few words is near to
// no query, which is the pivoted length normalisation of Singhal et al. (SIGIR
// 1996), and two documents are near where they mean the same in like words.
//
// Sums are of integers: a text has one vector, whatever the machine.
package wordvec

import (
	"context"
	"math"

	"hippocampus/internal/llm"
)

// Model names the table and everything that makes a vector of it: whatever
// changes a vector changes the name.
const Model = "minilm-words-v1"

// Dim is the length of a vector.
const Dim = meaningDim + characterDim + signatureDim

const (
	characterDim = 192
	signatureDim = 64
)

// The length of a feature of other scripts, and of a document's signature. A
// middling word has unitLength.
const (
	characterLength = unitLength
	signatureLength = 3 * unitLength
)

// Embedder embeds on the caller's goroutine, in microseconds.
type Embedder struct{ table *table }

var _ llm.Embedder = (*Embedder)(nil)

// New is the built-in embedder. The first call reads the table, in milliseconds.
func New() *Embedder { return &Embedder{theTable()} }

// Model returns the constant Model.
func (*Embedder) Model() string { return Model }

// Dim returns the constant Dim.
func (*Embedder) Dim() int { return Dim }

// Embed fails only when ctx is done.
func (e *Embedder) Embed(ctx context.Context, use llm.Use, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	var s scratch
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors[i] = make([]float32, Dim)
		s.embed(e.table, use, text, vectors[i])
	}
	return vectors, nil
}

// scratch is what embedding needs beside the result. It stays on the stack.
type scratch struct {
	splitter
	numbers [maxWord]int32
	meaning [meaningDim]int64
	wording
}

func (s *scratch) embed(t *table, use llm.Use, text string, vector []float32) {
	clear(s.meaning[:])
	s.wording = wording{}
	s.wording.read(text)
	s.splitter.reset(text)
	for s.scan() {
		for _, number := range t.appendWord(s.numbers[:0], s.word[:s.size], s.length) {
			t.add(&s.meaning, number)
		}
	}
	meaning, rest := vector[:meaningDim], vector[meaningDim:]
	characters, signature := rest[:characterDim], rest[characterDim:]
	square := put(meaning, s.meaning[:], 1) + put(characters, s.characters[:], characterLength)
	if use == llm.ForDocument || square == 0 {
		length := math.Sqrt(put(signature, s.signature[:], 1))
		if length == 0 { // no words, or all of them cancelled out
			hash := uint64(hashSeed)
			for _, c := range text {
				hash = step(hash, c)
			}
			place, sign := spread(hash, signatureDim)
			signature[place], length = float32(sign), 1
		}
		scale(signature, signatureLength/length)
		square += signatureLength * signatureLength
	}
	scale(vector, 1/math.Sqrt(square))
}

// put writes sums times unit to vector, and returns the sum of their squares.
func put(vector []float32, sums []int64, unit int64) (square float64) {
	for i, sum := range sums {
		x := float64(sum * unit)
		vector[i] = float32(x)
		square += float64(x * x) // converted, so that no machine fuses the two operations
	}
	return square
}

func scale(vector []float32, by float64) {
	for i, x := range vector {
		vector[i] = float32(float64(x) * by)
	}
}
