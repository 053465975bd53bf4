// Package bilingual is the built-in embedder. It needs no endpoint, and has the meanings of English and Chinese:
//
//	text -> wordvec: meaning of English words, 256 numbers | other scripts, 192 | signature of a document, 64
//	     -> bert, if the text has Han characters: its embedding, added to the 192 numbers in place of their hashes
//	     -> scaled to unit length
//
// A text without Han characters has the vector of wordvec. The more Han characters a text has, the longer is the vector
// that the transformer adds, so that the vector of a text in both languages represents both. In a text with kana or
// Hangul, Han characters are hashed as well.
package bilingual

import (
	"context"
	"math"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/bert"
	"hippocampus/internal/llm"
	"hippocampus/internal/wordvec"
)

// Model names both models and how they are combined. Every change of a vector must change the name.
const Model = "minilm-words-bge-zh-v1"

// Dim is the length of a vector.
const Dim = wordvec.Dim

// Embedder embeds on the caller's goroutine: in microseconds, and in milliseconds for a text with Han characters.
type Embedder struct{ words *wordvec.Embedder }

var _ llm.Embedder = (*Embedder)(nil)

// New returns the built-in embedder. The first text with Han characters loads the transformer.
func New() *Embedder { return &Embedder{wordvec.New()} }

// Model returns the constant Model.
func (*Embedder) Model() string { return Model }

// Dim returns the constant Dim.
func (*Embedder) Dim() int { return Dim }

// Embed fails only if ctx is done.
func (e *Embedder) Embed(ctx context.Context, use llm.Use, texts []string) ([][]float32, error) {
	vectors, err := e.words.Embed(ctx, use, texts)
	if err != nil {
		return nil, err
	}
	for i, text := range texts {
		found := count(text)
		if found.han == 0 {
			continue
		}
		part, err := chinese(ctx, text, found.han)
		if err != nil {
			return nil, err
		}
		clear(vectors[i])
		e.words.EmbedWithHan(use, text, wordvec.Han{Vector: part, Hashed: found.others > 0}, vectors[i])
	}
	return vectors, nil
}

// chinese returns the transformer's embedding of a text, scaled so that each Han character counts as an average word.
func chinese(ctx context.Context, text string, han int) ([]float32, error) {
	part := make([]float32, wordvec.CharacterDim)
	if err := bert.Load().Embed(ctx, text, part); err != nil {
		return nil, err
	}
	square := 0.0
	for _, x := range part {
		square += float64(float64(x) * float64(x)) // the conversion prevents a fused multiply-add
	}
	if square > 0 {
		by := math.Sqrt(float64(han) / square)
		for i, x := range part {
			part[i] = float32(float64(x) * by)
		}
	}
	return part, nil
}

// The transformer's numbers take the place of the hashed characters.
var _ = [1]struct{}{}[bert.Dim-wordvec.CharacterDim]

// scripts counts the characters of a text that have no word boundaries.
type scripts struct {
	han    int
	others int // kana and Hangul
}

func count(text string) (s scripts) {
	for _, c := range text {
		switch {
		case c < utf8.RuneSelf:
		case unicode.Is(unicode.Han, c):
			s.han++
		case unicode.In(c, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			s.others++
		}
	}
	return s
}
