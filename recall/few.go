package recall

import "context"

// compareFew compares all memories of an owner who has a few at most, without
// the vector store: a search would bring them all back, which takes longer than
// reading their embeddings. compared stays false of an owner who has more or none,
// and where the vector store may be away: it is asked then, to find out, and so that
// the answer tells.
func (s *Service) compareFew(ctx context.Context, q Query, seen *sight) error {
	limit := s.set.CompareLimit
	if s.remote == nil || limit == 0 || !s.remote.Healthy() {
		return nil
	}
	n, found := 0, make([]near, 0, 64)
	err := s.records.EachEmbedding(ctx, q.Owner, seen.embedder.Model(), limit+1, func(id string, embedding []float32) {
		if n++; len(embedding) == len(seen.vector) {
			found = append(found, near{id, Cosine(seen.vector, embedding), fromVectors})
		}
	})
	if err == nil && 0 < n && n <= limit {
		seen.stored, seen.compared = found, true
	}
	return err
}
