package bert

import "context"

// chunk is the number of tokens whose feed-forward part is computed at a time, which bounds its memory.
const chunk = 32

// run returns the state of [CLS] after all layers, hidden numbers in s.
func (m *Model) run(ctx context.Context, s *scratch) ([]float32, error) {
	m.start(s)
	for i := range m.layers {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tokens := len(s.pieces)
		if i == layers-1 {
			tokens = 1 // nothing reads the last states of the others
		}
		m.attend(s, &m.layers[i], tokens)
		for from := 0; from < tokens; from += chunk {
			m.feedForward(s, &m.layers[i], from, min(from+chunk, tokens))
		}
	}
	return s.states[:hidden], nil
}

// start sets the states to the rows of the pieces and their places.
func (m *Model) start(s *scratch) {
	s.states = grow(s.states, len(s.pieces)*hidden)
	for place, piece := range s.pieces {
		state := s.states[place*hidden:][:hidden]
		word := m.words[int(piece)*hidden:][:hidden]
		position := m.positions[place*hidden:][:hidden]
		for i := range state {
			sum := float32(float32(int8(word[i]))*m.wordScale) + m.kind[i]
			state[i] = sum + float32(float32(int8(position[i]))*m.positionScale)
		}
		m.norm.apply(state)
	}
}

// feedForward completes a layer for the tokens from..to, whose attention is in s.attended.
func (m *Model) feedForward(s *scratch, l *layer, from, to int) {
	tokens := to - from
	states := s.states[from*hidden : to*hidden]
	s.projected = grow(s.projected, chunk*hidden)[:tokens*hidden]
	s.activation = grow(s.activation, chunk*inner)[:tokens*inner]
	s.quantised.set(s.attended[from*hidden:to*hidden], hidden)
	m.multiply(s.projected, &l.output, &s.quantised)
	addAndNormalise(states, s.projected, l.attentionNorm)
	s.quantised.set(states, hidden)
	m.multiply(s.activation, &l.rise, &s.quantised)
	gelu(s.activation)
	s.quantised.set(s.activation, inner)
	m.multiply(s.projected, &l.fall, &s.quantised)
	addAndNormalise(states, s.projected, l.norm)
}

// addAndNormalise adds a change to the states, and normalises each state.
func addAndNormalise(states, change []float32, n norm) {
	for i, x := range change {
		states[i] += x
	}
	for ; len(states) > 0; states = states[hidden:] {
		n.apply(states[:hidden])
	}
}
