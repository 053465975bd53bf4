package llm

import (
	"context"
	"hash/fnv"
	"math"

	"hippocampus/internal/text"
)

// HashedModel is the name of the embedder that needs no endpoint.
const HashedModel = "hashed-v1"

// HashedDim is the dimension that the server uses it with.
const HashedDim = 512

// pairWeight is what two neighbouring lexemes weigh together, so that "Tom
// likes Ann" is near but not equal to "Ann likes Tom".
const pairWeight = 0.5

// Hashed is the embedder that needs no endpoint: signed feature hashing
// (Weinberger et al., ICML 2009) of lexemes and of pairs of neighbours, each
// weighing 1 + ln(count), in dim numbers of unit length. It sees shared words
// and characters, no synonyms. A text without lexemes, such as "!?", gets a
// direction of its own.
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
	var order []feature // features in order of appearance: sums must not depend on a map's
	counts := map[string]int{}
	add := func(name string, weight float64) {
		if counts[name]++; counts[name] == 1 {
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
	if !normalise(vector) { // no lexemes, or all of them cancelled out
		place, sign := h.place(s)
		vector[place] = float32(sign)
	}
	return vector
}

// place is where a feature counts, and with which sign.
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
