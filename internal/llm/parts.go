package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// MinPart is the least length, in bytes, of the parts that a refused text is embedded in.
const MinPart = 256

// RefusedTexts is the error of an Embedder whose endpoint refuses some texts, also in parts. The vectors of the
// accepted texts are returned with it; those of the refused texts are nil.
type RefusedTexts struct {
	Count int
	Err   error // of the first one
}

func (e *RefusedTexts) Error() string { return fmt.Sprintf("%d texts are refused: %v", e.Count, e.Err) }
func (e *RefusedTexts) Unwrap() error { return e.Err }

// EmbedDocuments embeds documents with e. The vector of a text that the endpoint refuses is empty, but not nil.
func EmbedDocuments(ctx context.Context, e Embedder, texts []string) (vectors [][]float32, err error) {
	vectors, err = e.Embed(ctx, ForDocument, texts)
	if refused := (*RefusedTexts)(nil); !errors.As(err, &refused) {
		return vectors, err
	}
	for i := range vectors {
		if vectors[i] == nil {
			vectors[i] = []float32{}
		}
	}
	return vectors, nil
}

// Embed embeds texts. A text that the endpoint refuses is embedded in parts that end with a sentence, of at most half
// its length, then of a quarter, and so on. Its vector has the direction of the mean of the parts' vectors, weighted by
// their lengths. After a refusal that concerns the length, the length that the endpoint accepts bounds the parts of
// later texts.
func (e *embedder) Embed(ctx context.Context, use Use, texts []string) ([][]float32, error) {
	vectors, err := e.embedParts(ctx, use, texts, int(e.limit.Load()))
	if !concernsTexts(err) || !e.accepts(ctx, use) {
		return vectors, err
	}
	vectors = make([][]float32, len(texts))
	var refused RefusedTexts
	if err := e.embedRefused(ctx, use, texts, err, vectors, &refused); err != nil {
		return nil, err
	}
	if refused.Count > 0 {
		return vectors, &refused
	}
	return vectors, nil
}

// concernsTexts reports whether err may concern some texts alone.
func concernsTexts(err error) bool {
	return err != nil && (CauseOf(err) == CauseRequest || errors.Is(err, errNoDirection))
}

// accepts reports whether the endpoint accepts a harmless text. An endpoint that refuses even
// this text refuses every text, such as for an unpaid account.
func (e *embedder) accepts(ctx context.Context, use Use) bool {
	_, err := e.embedAll(ctx, use, []string{"hello"})
	return err == nil
}

// embedRefused embeds texts that were refused in one request with err, and stores the vector of texts[i] in vectors[i].
// It counts the texts whose parts are refused as well.
func (e *embedder) embedRefused(
	ctx context.Context, use Use, texts []string, err error, vectors [][]float32, refused *RefusedTexts,
) error {
	if len(texts) == 1 {
		vector, err := e.embedHalved(ctx, use, texts[0], err)
		if concernsTexts(err) {
			refused.Count++
			refused.Err = cmp.Or(refused.Err, err)
			return nil
		}
		vectors[0] = vector
		return err
	}
	half := len(texts) / 2
	for _, part := range []struct {
		texts   []string
		vectors [][]float32
	}{{texts[:half], vectors[:half]}, {texts[half:], vectors[half:]}} {
		found, err := e.embedParts(ctx, use, part.texts, int(e.limit.Load()))
		switch {
		case err == nil:
			copy(part.vectors, found)
		case !concernsTexts(err):
			return err
		default:
			if err := e.embedRefused(ctx, use, part.texts, err, part.vectors, refused); err != nil {
				return err
			}
		}
	}
	return nil
}

// embedHalved embeds a text that was refused with err in shorter and shorter parts, until the endpoint accepts them.
func (e *embedder) embedHalved(ctx context.Context, use Use, s string, err error) ([]float32, error) {
	tooLong := concernsLength(err)
	for limit := len(s) / 2; err != nil && CauseOf(err) == CauseRequest && limit >= MinPart; limit /= 2 {
		var vectors [][]float32
		if vectors, err = e.embedParts(ctx, use, []string{s}, limit); err != nil {
			continue
		}
		if tooLong {
			e.limit.Store(int64(limit))
		}
		return vectors[0], nil
	}
	return nil, err
}

// embedParts embeds texts in parts of at most limit bytes; 0: as they are.
func (e *embedder) embedParts(ctx context.Context, use Use, texts []string, limit int) ([][]float32, error) {
	if limit == 0 || !slices.ContainsFunc(texts, func(s string) bool { return len(s) > limit }) {
		return e.embedAll(ctx, use, texts)
	}
	var parts []string
	ends := make([]int, len(texts)) // of the parts of each text
	for i, s := range texts {
		parts = append(parts, divide(s, limit)...)
		ends[i] = len(parts)
	}
	vectors, err := e.embedAll(ctx, use, parts)
	if err != nil {
		return nil, err
	}
	means, begin := make([][]float32, len(texts)), 0
	for i, end := range ends {
		if means[i], err = mean(parts[begin:end], vectors[begin:end]); err != nil {
			return nil, err
		}
		begin = end
	}
	return means, nil
}

// divide returns the parts of a text of at most about limit bytes, at least one.
func divide(s string, limit int) []string {
	if len(s) <= limit {
		return []string{s}
	}
	characters := max(1, limit*utf8.RuneCountInString(s)/len(s))
	if parts := text.Divide(s, characters); len(parts) > 0 {
		return parts
	}
	return []string{s}
}

// mean returns the unit vector in the direction of the mean of the vectors of parts, weighted by their lengths.
func mean(parts []string, vectors [][]float32) ([]float32, error) {
	if len(parts) == 1 {
		return vectors[0], nil
	}
	sum := make([]float32, len(vectors[0]))
	for i, vector := range vectors {
		for k, x := range vector {
			sum[k] += x * float32(len(parts[i]))
		}
	}
	if !normalise(sum) {
		return nil, memory.Errorf(memory.KindBadAnswer, "the vectors of the parts of a text cancel out")
	}
	return sum, nil
}
