package pgvector

import (
	"fmt"

	"hippocampus/internal/memory"
)

// graph is what a table's HNSW index is made of and how it is walked.
type graph struct {
	kind     string // "vector", or "halfvec" for vectors that are too long for it; empty: there is none
	iterates bool   // a walk goes on until enough of what it finds passes the filter
}

// The longest vectors in a graph (pgvector's HNSW_MAX_DIM for each type).
const (
	maxGraphed     = 2000
	maxHalfGraphed = 4000
)

// graphOf is the graph for these options in this version of the extension.
func graphOf(o Options, version string) (g graph, err error) {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return g, memory.Errorf(memory.KindUnavailable, "the version %q of the extension vector cannot be read", version)
	}
	since := func(m int) bool { return major > 0 || minor >= m }
	switch {
	case o.Index == "FLAT":
	case o.Index != "HNSW":
		return g, memory.Errorf(memory.KindInvalid, "the pgvector index %q is not known: choose HNSW or FLAT", o.Index)
	case o.Space.Dim <= maxGraphed && since(5):
		g.kind = "vector"
	case o.Space.Dim > maxGraphed && o.Space.Dim <= maxHalfGraphed && since(7):
		g.kind = "halfvec"
	}
	g.iterates = since(8)
	return g, nil
}

// graphed is a vector as the graph holds it.
func (s *Store) graphed(vector string) string {
	if s.graph.kind == "halfvec" {
		return fmt.Sprintf("(%s::%s.halfvec(%d))", vector, s.in, s.space.Dim)
	}
	return vector
}
