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
	Embedder llm.Embedder // may be away, or unable for good: it says so when it is asked
	Vectors  vectorstore.Store
}

// Switch is the pair that serves, and those beside it that are open: an
// llm.Embedder, and by Vectors a vectorstore.Store. What names its space, such
// as a query that was embedded just before the change-over, reaches the vectors
// of that space for as long as they are open.
type Switch struct {
	mu       sync.RWMutex
	serving  *Pair
	open     map[memory.Space]*Pair
	settled  bool
	losses   int // of all pairs, as far as they were noticed while they served
	baseline int // losses of the pair that serves before it did
}

var _ llm.Switching = (*Switch)(nil)

// NewSwitch makes a switch that begins with a pair.
func NewSwitch(first Pair) *Switch {
	return &Switch{serving: &first, open: map[memory.Space]*Pair{first.Space: &first}}
}

// Serving is the embedder that serves.
func (s *Switch) Serving() llm.Embedder { return s.current().Embedder }

// Space is the one that serves.
func (s *Switch) Space() memory.Space { return s.current().Space }

// Model is the serving embedder's.
func (s *Switch) Model() string { return s.Space().Model }

// Dim is the serving embedder's.
func (s *Switch) Dim() int { return s.Space().Dim }

// Embed embeds with the embedder that serves.
func (s *Switch) Embed(ctx context.Context, use llm.Use, texts []string) ([][]float32, error) {
	return s.Serving().Embed(ctx, use, texts)
}

func (s *Switch) current() *Pair {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.serving
}

// find is the open pair of a space, or of the serving one where it is zero.
func (s *Switch) find(space memory.Space) (*Pair, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if space == (memory.Space{}) {
		return s.serving, true
	}
	p, ok := s.open[space]
	return p, ok
}

// add keeps a pair open beside the one that serves.
func (s *Switch) add(p Pair) *Pair {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[p.Space] = &p
	return &p
}

// change makes an open pair serve.
func (s *Switch) change(p *Pair) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.losses, s.baseline = s.count(), lossesOf(p.Vectors)
	s.serving = p
}

// take gives up the pair of a space that does not serve.
func (s *Switch) take(space memory.Space) (*Pair, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.open[space]
	if !ok || p == s.serving {
		return nil, false
	}
	delete(s.open, space)
	return p, true
}

// settle notes whether one space serves and nothing else is meant or left.
func (s *Switch) settle(settled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settled = settled
}

// beside lists the spaces that are open and do not serve.
func (s *Switch) beside() (spaces []memory.Space) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for space, p := range s.open {
		if p != s.serving {
			spaces = append(spaces, space)
		}
	}
	return spaces
}

// count is how many losses were seen, with those of the serving pair.
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
