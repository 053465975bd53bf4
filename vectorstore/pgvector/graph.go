package pgvector

import (
	"fmt"

	"hippocampus/internal/memory"
)

// graph describes a table's HNSW index and how it is searched.
type graph struct {
	kind      string // "vector", or "halfvec" for longer vectors; empty: the table has no such index
	iterative bool   // a search continues until enough of the records it finds pass the filter
}

// The longest vectors in an HNSW index (pgvector's HNSW_MAX_DIM for each type).
const (
	maxVectorDim  = 2000
	maxHalfvecDim = 4000
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
		return g, memory.Errorf(memory.KindInvalid, "unknown pgvector index %q: choose HNSW or FLAT", o.Index)
	case o.Space.Dim <= maxVectorDim && since(5):
		g.kind = "vector"
	case o.Space.Dim > maxVectorDim && o.Space.Dim <= maxHalfvecDim && since(7):
		g.kind = "halfvec"
	}
	g.iterative = since(8)
	return g, nil
}

// indexed is the SQL expression of a vector in the type of the index.
func (s *Store) indexed(vector string) string {
	if s.graph.kind == "halfvec" {
		return fmt.Sprintf("(%s::%s.halfvec(%d))", vector, s.schema, s.space.Dim)
	}
	return vector
}
