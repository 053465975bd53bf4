package calibration

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"strings"

	"hippocampus/internal/bilingual"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/wordvec"
)

// pairs holds a language, a question and a statement that answers it in other words
// in each line. No statement answers the question of another line.
//
//go:embed pairs.tsv
var pairs string

// shipped are the calibrations of embedders that are part of this program. Unrelated
// is measured on pairs. Related is the median of the best cosine of questions about
// conversations, since the cosines of pairs are lower than those of the built-in embedder
// on longer texts: see docs/decisions/0023-confidence.md and 0046-chinese-without-a-key.md.
var shipped = map[memory.Space]memory.Calibration{
	{Model: bilingual.Model, Dim: bilingual.Dim}: {
		English: memory.SimilarityRange{Unrelated: 0.03, Related: 0.42, Floor: 0.06},
		Chinese: memory.SimilarityRange{Unrelated: -0.01, Related: 0.33, Floor: 0.04}, Bilingual: true,
	},
	{Model: wordvec.Model, Dim: wordvec.Dim}: {
		English: memory.SimilarityRange{Unrelated: 0.03, Related: 0.42, Floor: 0.06},
		Chinese: memory.SimilarityRange{Unrelated: 0.02, Related: 0.23, Floor: 0.04}, Bilingual: true,
	},
}

// Measure embeds the pairs and returns, for each language,
//
//	unrelated = mean cosine of a question and the statements of other lines
//	related   = unrelated + max(mean cosine of a question and its statement - unrelated,
//	                            3.5 standard deviations of the former cosines, 0.05)
//	floor     = mean cosine of a statement and the statements of other lines
//
// A model that does not know a language hardly separates the pairs. The lower bounds
// keep small differences of its cosines from counting.
func Measure(ctx context.Context, embedder llm.Embedder) (memory.Calibration, error) {
	languages := map[string]*[2][]string{"en": {}, "zh": {}}
	for line := range strings.Lines(pairs) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		texts := languages[fields[0]]
		texts[0], texts[1] = append(texts[0], fields[1]), append(texts[1], fields[2])
	}
	var c memory.Calibration
	for language, into := range map[string]*memory.SimilarityRange{"en": &c.English, "zh": &c.Chinese} {
		questions, err := embedder.Embed(ctx, llm.ForQuery, languages[language][0])
		if err != nil {
			return memory.Calibration{}, fmt.Errorf("embed questions: %w", err)
		}
		statements, err := embedder.Embed(ctx, llm.ForDocument, languages[language][1])
		if err != nil {
			return memory.Calibration{}, fmt.Errorf("embed statements: %w", err)
		}
		*into = rangeOf(questions, statements)
	}
	return c, nil
}

// rangeOf compares each question with each statement; statements[i] answers questions[i].
func rangeOf(questions, statements [][]float32) memory.SimilarityRange {
	var related, unrelated, squares float64
	for i, q := range questions {
		for j, s := range statements {
			cosine := float64(memory.Dot(q, s))
			if i == j {
				related += cosine
				continue
			}
			unrelated += cosine
			squares += cosine * cosine
		}
	}
	n := float64(len(questions))
	related /= n
	unrelated /= n * (n - 1)
	deviation := math.Sqrt(max(0, squares/(n*(n-1))-unrelated*unrelated))
	return memory.SimilarityRange{
		Unrelated: unrelated, Related: unrelated + max(related-unrelated, 3.5*deviation, 0.05),
		Floor: meanCosine(statements),
	}
}

// meanCosine is the mean cosine of two of the vectors.
func meanCosine(vectors [][]float32) float64 {
	sum := 0.0
	for i, v := range vectors {
		for _, other := range vectors[:i] {
			sum += float64(memory.Dot(v, other))
		}
	}
	return sum / float64(len(vectors)*(len(vectors)-1)/2)
}
