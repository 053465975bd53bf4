package bert

// lanes is the number of sums of a product of floating-point numbers; lengths are padded to a multiple of it.
const lanes = 8

// attend sets s.attended to the attention of the first tokens over all tokens.
func (m *Model) attend(s *scratch, l *layer, tokens int) {
	all := len(s.pieces)
	padded := (all + lanes - 1) / lanes * lanes
	s.queries = grow(s.queries, all*hidden)
	s.keys = grow(s.keys, all*hidden)
	s.attended = grow(s.attended, all*hidden)
	s.values = grow(s.values, hidden*padded)
	s.scores = grow(s.scores, padded)
	s.quantised.set(s.states, hidden)
	m.multiply(s.keys, &l.key, &s.quantised)
	m.multiply(s.attended, &l.value, &s.quantised) // until they are transposed
	transpose(s.values, s.attended, all, padded)
	if tokens < all {
		s.quantised.set(s.states[:tokens*hidden], hidden)
	}
	m.multiply(s.queries[:tokens*hidden], &l.query, &s.quantised)
	clear(s.scores[all:])
	for token := range tokens {
		for head := range heads {
			at := token*hidden + head*headHidden
			m.kernels.floatDots(s.scores[:all], s.queries[at:at+headHidden], s.keys[head*headHidden:], hidden)
			softmax(s.scores[:all])
			values := s.values[head*headHidden*padded:][:headHidden*padded]
			m.kernels.floatDots(s.attended[at:at+headHidden], s.scores, values, padded)
		}
	}
}

// transpose writes tokens x hidden numbers as hidden x padded numbers. The numbers after the last token are zero.
func transpose(out, in []float32, tokens, padded int) {
	for i := range hidden {
		row := out[i*padded:][:padded]
		for token := range tokens {
			row[token] = in[token*hidden+i]
		}
		clear(row[tokens:])
	}
}

// scoreScale is the scale of the scores: 1 / sqrt(headHidden).
const scoreScale = 0.125

// softmax replaces scores by their shares.
func softmax(scores []float32) {
	most := scores[0]
	for _, x := range scores {
		most = max(most, x)
	}
	sum := 0.0
	for i, x := range scores {
		e := exp(float64(x-most) * scoreScale)
		scores[i] = float32(e)
		sum += e
	}
	by := float32(1 / sum)
	for i := range scores {
		scores[i] *= by
	}
}
