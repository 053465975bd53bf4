package recall

// Drop lets go of the queries whose embeddings are kept: they are a user's
// words, too.
func (s *Service) Drop() { s.queries.Purge() }
