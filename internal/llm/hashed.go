package llm

import (
	"context"
	"hash/fnv"
	"math"

	"hippocampus/internal/text"
)

// HashedModel is the name of the embedder that Hashed returns.
const HashedModel = "hashed-v1"

// HashedDim is its dimension in the server.
const HashedDim = 512

// pairWeight is the weight of a pair of neighbouring lexemes. Pairs make "Tom
// likes Ann" similar but not equal to "Ann likes Tom".
const pairWeight = 0.5

// Hashed is the embedder that needs no endpoint: signed feature hashing
// (Weinberger et al., ICML 2009) of lexemes and of pairs of neighbours, each with
// the weight 1 + ln(count), into unit vectors of dim numbers. It finds shared words
// and characters, but no synonyms. A text without lexemes, such as "!?", has a
// vector that depends on the whole text.
func Hashed(dim int) Embedder { return hashed(dim) }

type hashed int

func (h hashed) Model() string { return HashedModel }
func (h hashed) Dim() int      { return int(h) }

func (h hashed) Embed(ctx context.Context, _ Use, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, s := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors[i] = h.embed(s)
	}
	return vectors, nil
}

func (h hashed) embed(s string) []float32 {
	type feature struct {
		name   string
		weight float64
	}
	var order []feature // in order of appearance, since sums must not depend on the order of a map
	counts := map[string]int{}
	add := func(name string, weight float64) {
		counts[name]++
		if counts[name] == 1 {
			order = append(order, feature{name, weight})
		}
	}
	lexemes := text.Lexemes(s)
	for i, lexeme := range lexemes {
		add(lexeme, 1)
		if i > 0 {
			add(lexemes[i-1]+" "+lexeme, pairWeight)
		}
	}
	vector := make([]float32, h)
	for _, f := range order {
		place, sign := h.place(f.name)
		vector[place] += float32(sign * f.weight * (1 + math.Log(float64(counts[f.name]))))
	}
	if !normalise(vector) { // there are no lexemes, or they cancel each other out
		place, sign := h.place(s)
		vector[place] = float32(sign)
	}
	return vector
}

// place is the index and the sign of a feature.
func (h hashed) place(feature string) (int, float64) {
	hash := fnv.New64a()
	hash.Write([]byte(feature))
	sum := hash.Sum64()
	sum ^= sum >> 32 // FNV mixes its low bits best
	sign := 1.0
	if sum>>31&1 == 1 {
		sign = -1
	}
	return int(sum & 0x7fffffff % uint64(h)), sign
}
