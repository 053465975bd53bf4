package recall

// Parts are what each signal contributes to a score. They add up to the score. Question is 0 or less, and no
// other part is negative.
type Parts struct {
	Similarity float64
	Lexical    float64
	Neighbour  float64
	Speaker    float64
	Date       float64
	When       float64
	ToDo       float64
	Routed     float64
	Question   float64
	Message    float64
	Skill      float64
	Rerank     float64
	Decay      float64
	Importance float64
	Update     float64
}

// parts divides a score among its signals:
//
//	relevance = fused + message + skill + rerank
//	fused     = (z / max(z))^contrast, divided among the terms of z by their shares term/z; see fuse
//	score     = alpha*relevance + beta*f*decay + gamma*f*importance + update
//
// with f = relevance in the mode modulated and 1 in the mode additive; see Score.
func (s *Service) parts(q Query, c scored) *Parts {
	r := c.relevant
	y := r.similarity + r.worded + r.neighbour + r.speaker + r.date + r.when + r.toDo + r.routed
	question := 0 - y*s.set.Cues.Question*r.question // and not -0
	share := 0.0
	if z := y + question; z > 0 {
		share = q.Weights.Relevance * r.fused / z
	}
	rest := 1.0
	if q.Mode == Modulated {
		rest = r.relevance
	}
	return &Parts{
		Similarity: share * r.similarity,
		Lexical:    share * r.worded,
		Neighbour:  share * r.neighbour,
		Speaker:    share * r.speaker,
		Date:       share * r.date,
		When:       share * r.when,
		ToDo:       share * r.toDo,
		Routed:     share * r.routed,
		Question:   share * question,
		Message:    q.Weights.Relevance * r.message,
		Skill:      q.Weights.Relevance * r.skill,
		Rerank:     q.Weights.Relevance * r.rerank,
		Decay:      q.Weights.Decay * rest * c.decay,
		Importance: q.Weights.Importance * rest * c.importance,
		Update:     c.update.lift,
	}
}
