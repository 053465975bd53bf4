package memory

// Calibration states what the cosine similarities of an embedding space mean. The zero
// value means that this is not known.
type Calibration struct {
	English SimilarityRange // of texts in English and other languages with spaces between words
	Chinese SimilarityRange // of texts in Chinese and other languages without spaces between words

	// Bilingual is set if the model knows no other languages than these two, so that similarities of texts in others
	// mean nothing.
	Bilingual bool
}

// SimilarityRange is where the cosines of a question and a statement, and of two statements, lie. All are -1..1.
type SimilarityRange struct {
	Unrelated float64 // mean cosine if the statement has nothing to do with the question
	Related   float64 // cosine if the statement answers the question; more than Unrelated
	Floor     float64 // mean cosine of two statements that have nothing to do with each other
}

// Scale maps a cosine to 0 for Unrelated and 1 for Related. Other cosines lie outside
// of 0..1.
func (r SimilarityRange) Scale(cosine float64) float64 {
	return (cosine - r.Unrelated) / (r.Related - r.Unrelated)
}
