// Package wordvec is the built-in embedder. A table distilled from all-MiniLM-L6-v2
// has the meanings of English words, so that no runtime of a model is needed:
//
//	text -> pieces of words -> sum of their rows         -> meaning    256 numbers
//	     -> characters of other scripts, pairs, hashed   -> characters 192
//	     -> words and neighbours, hashed; documents only -> signature   64
//	                                                     -> scaled to unit length
//
// The rarer a piece, the longer its row. The signature of a document has a constant
// length, and a query has no signature. Therefore a document of few words is similar
// to no query (the pivoted length normalisation of Singhal et al., SIGIR 1996), and
// two documents are similar if they have the same meaning in similar words.
//
// All sums are sums of integers, so that a text has the same vector on every machine.
package wordvec

import (
	"context"
	"math"

	"hippocampus/internal/llm"
	"hippocampus/internal/wordpiece"
)

// Model names the table and the algorithm. Every change of a vector must change the
// name.
const Model = "minilm-words-v1"

// Dim is the length of a vector.
const Dim = meaningDim + CharacterDim + signatureDim

// CharacterDim is the length of the part of a vector that represents the characters of other scripts.
const CharacterDim = 192

const signatureDim = 64

// The length of a feature in characters, and that of a document's signature, by unitLength, the length of an average
// word.
const (
	characterLength = unitLength
	signatureLength = 3 * unitLength
)

// Embedder embeds on the caller's goroutine, in microseconds.
type Embedder struct{ table *table }

var _ llm.Embedder = (*Embedder)(nil)

// New returns the built-in embedder. The first call takes milliseconds to read the table.
func New() *Embedder { return &Embedder{loadTable()} }

// Model returns the constant Model.
func (*Embedder) Model() string { return Model }

// Dim returns the constant Dim.
func (*Embedder) Dim() int { return Dim }

// Embed fails only if ctx is done.
func (e *Embedder) Embed(ctx context.Context, use llm.Use, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	var s scratch
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors[i] = make([]float32, Dim)
		s.embed(e.table, use, text, nil, vectors[i])
	}
	return vectors, nil
}

// Han is the embedding, by another embedder, of the Han characters of a text.
type Han struct {
	Vector []float32 // CharacterDim numbers, which are added to the hashed characters; 1 is the length of an average word
	Hashed bool      // the characters are hashed as well
}

// EmbedWithHan writes the vector of a text to vector, which has Dim numbers that are 0.
func (e *Embedder) EmbedWithHan(use llm.Use, text string, han Han, vector []float32) {
	var s scratch
	s.embed(e.table, use, text, &han, vector)
}

// maxPieces is the number of pieces that a word can have without an allocation.
const maxPieces = 100

// scratch is the working memory of an embedding. It stays on the stack.
type scratch struct {
	splitter wordpiece.Splitter
	numbers  [maxPieces]int32
	meaning  [meaningDim]int64
	wording
}

// embed writes the vector of a text. If han is nil, its Han characters are hashed.
func (s *scratch) embed(t *table, use llm.Use, text string, han *Han, vector []float32) {
	clear(s.meaning[:])
	s.wording = wording{withoutHan: han != nil && !han.Hashed}
	s.wording.read(text)
	s.splitter.Reset(text)
	for s.splitter.Scan() {
		for _, number := range t.AppendWord(s.numbers[:0], &s.splitter) {
			t.add(&s.meaning, number)
		}
	}
	meaning, rest := vector[:meaningDim], vector[meaningDim:]
	characters, signature := rest[:CharacterDim], rest[CharacterDim:]
	square := put(meaning, s.meaning[:], 1) + put(characters, s.characters[:], characterLength)
	if han != nil {
		square += add(characters, han.Vector, characterLength)
	}
	if use == llm.ForDocument || square == 0 {
		length := math.Sqrt(put(signature, s.signature[:], 1))
		if length == 0 { // there are no words, or they cancel each other out
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

// put writes sums times unit to vector and returns the sum of the squares.
func put(vector []float32, sums []int64, unit int64) (square float64) {
	for i, sum := range sums {
		x := float64(sum * unit)
		vector[i] = float32(x)
		square += float64(x * x) // the conversion prevents a fused multiply-add
	}
	return square
}

// add adds numbers times unit to vector and returns by how much the sum of the squares grows.
func add(vector, numbers []float32, unit float64) (growth float64) {
	for i, x := range numbers {
		before := float64(vector[i])
		after := before + float64(float64(x)*unit)
		vector[i] = float32(after)
		growth += float64(after*after) - float64(before*before)
	}
	return growth
}

func scale(vector []float32, by float64) {
	for i, x := range vector {
		vector[i] = float32(float64(x) * by)
	}
}
