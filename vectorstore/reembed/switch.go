package reembed

import (
	"context"
	"errors"
	"sync"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Pair is an embedding space with its embedder and its vectors.
type Pair struct {
	Space    memory.Space
	Embedder llm.Embedder // returns errors if it is unavailable or this process has no embedder for the space
	Vectors  vectorstore.Store
}

// Switch holds the serving pair and the other open pairs. It is an llm.Embedder,
// and Vectors returns a vectorstore.Store. A query or record that names its space,
// such as a query that was embedded just before the change-over, reaches the
// vectors of that space as long as they are open.
type Switch struct {
	mu       sync.RWMutex
	serving  *Pair
	open     map[memory.Space]*Pair
	settled  bool
	losses   int // of all earlier serving pairs, while they served
	baseline int // losses of the serving pair before it served
}

var _ llm.Switching = (*Switch)(nil)

// NewSwitch makes a switch whose first pair serves.
func NewSwitch(first Pair) *Switch {
	return &Switch{serving: &first, open: map[memory.Space]*Pair{first.Space: &first}}
}

// Serving is the serving embedder.
func (s *Switch) Serving() llm.Embedder { return s.current().Embedder }

// Space is the serving space.
func (s *Switch) Space() memory.Space { return s.current().Space }

// Model is the model of the serving space.
func (s *Switch) Model() string { return s.Space().Model }

// Dim is the dimension of the serving space.
func (s *Switch) Dim() int { return s.Space().Dim }

// Embed embeds with the serving embedder.
func (s *Switch) Embed(ctx context.Context, use llm.Use, texts []string) ([][]float32, error) {
	return s.Serving().Embed(ctx, use, texts)
}

func (s *Switch) current() *Pair {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.serving
}

// find returns the open pair of a space. The zero space stands for the serving one.
func (s *Switch) find(space memory.Space) (*Pair, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if space == (memory.Space{}) {
		return s.serving, true
	}
	p, ok := s.open[space]
	return p, ok
}

// add adds an open pair.
func (s *Switch) add(p Pair) *Pair {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[p.Space] = &p
	return &p
}

// serve makes an open pair serve.
func (s *Switch) serve(p *Pair) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.losses, s.baseline = s.count(), lossesOf(p.Vectors)
	s.serving = p
}

// remove removes the pair of a space. It reports whether the space was open and
// does not serve.
func (s *Switch) remove(space memory.Space) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.open[space]
	if !ok || p == s.serving {
		return false
	}
	delete(s.open, space)
	return true
}

// setSettled sets whether the serving space is the only space.
func (s *Switch) setSettled(settled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settled = settled
}

// others lists the open pairs that do not serve.
func (s *Switch) others() (pairs []*Pair) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.open {
		if p != s.serving {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// count sums the losses of all pairs while they served.
func (s *Switch) count() int { return s.losses + lossesOf(s.serving.Vectors) - s.baseline }

func lossesOf(v vectorstore.Store) int {
	if m, ok := v.(vectorstore.Ensurer); ok {
		return m.Losses()
	}
	return 0
}

// close closes every open pair's vectors.
func (s *Switch) close() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.open {
		err = errors.Join(err, p.Vectors.Close())
	}
	return err
}
