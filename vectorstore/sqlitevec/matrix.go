package sqlitevec

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"sync"
	"unique"

	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// matrix holds what a search needs of all records of one owner.
type matrix struct {
	owner memory.Owner
	ready chan struct{} // closed when the rows have been read

	mu       sync.RWMutex
	rows     []row
	index    map[string]int // index in rows by id
	changes  []change       // received before the rows were read
	bytes    int            // approximate size
	unusable bool           // the rows could not be read: the file must be searched
}

type row struct {
	id                  string
	agent, domain, kind unique.Handle[string]
	created             int64     // unix milliseconds
	embedding           []float32 // unit length
}

func (r row) bytes() int { return len(r.id) + 4*len(r.embedding) + 120 }

// change is a write: it removed the records with the ids and added the records.
type change struct {
	ids     []string
	records []vectorstore.Record
}

func newMatrix(owner memory.Owner) *matrix {
	return &matrix{owner: owner, ready: make(chan struct{}), index: map[string]int{}}
}

// read fills the matrix with the owner's records. If they take more than limit
// bytes or have another dimension, the matrix is unusable.
func (m *matrix) read(ctx context.Context, db *sql.DB, dim, limit int) error {
	read, err := m.readRows(ctx, db, dim, limit)
	m.mu.Lock()
	defer m.mu.Unlock()
	defer close(m.ready)
	m.unusable = read == nil
	for _, r := range read {
		m.add(r)
	}
	for _, c := range m.changes {
		m.apply(c)
	}
	m.changes = nil
	return err
}

// readRows reads the owner's records; nil if they must not be cached.
func (m *matrix) readRows(ctx context.Context, db *sql.DB, dim, limit int) ([]row, error) {
	rows, err := db.QueryContext(ctx, `SELECT id, agent_id, domain, memory_type, created_at, embedding
		FROM records WHERE app_id = ? AND user_id = ?`, m.owner.AppID, m.owner.UserID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	read, bytes := []row{}, 0
	for rows.Next() {
		var r row
		var agent, domain, kind string
		var embedding sql.RawBytes
		if err := rows.Scan(&r.id, &agent, &domain, &kind, &r.created, &embedding); err != nil {
			return nil, err
		}
		r.agent = unique.Make(agent)
		r.domain = unique.Make(domain)
		r.kind = unique.Make(kind)
		r.embedding = rowcodec.Vector(embedding)
		read = append(read, r)
		if bytes += r.bytes(); bytes > limit || len(r.embedding) != dim {
			return nil, nil
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return read, nil
}

// size is the approximate size in bytes.
func (m *matrix) size() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.bytes
}

// change applies a write, at once or after the rows have been read.
func (m *matrix) change(c change) {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-m.ready:
		m.apply(c)
	default:
		m.changes = append(m.changes, c)
	}
}

func (m *matrix) apply(c change) {
	if m.unusable {
		return
	}
	for _, id := range c.ids {
		m.remove(id)
	}
	for _, r := range c.records {
		if r.Owner == m.owner {
			m.add(row{
				id: r.ID, agent: unique.Make(r.AgentID),
				domain: unique.Make(string(r.Domain)), kind: unique.Make(string(r.Type)),
				created: r.CreatedAt.UnixMilli(), embedding: unit(r.Embedding),
			})
		}
	}
}

func (m *matrix) add(r row) {
	m.index[r.id] = len(m.rows)
	m.rows = append(m.rows, r)
	m.bytes += r.bytes()
}

// remove removes the row with this id and moves the last row to its place.
func (m *matrix) remove(id string) {
	i, ok := m.index[id]
	if !ok {
		return
	}
	m.bytes -= m.rows[i].bytes()
	last := len(m.rows) - 1
	m.rows[i] = m.rows[last]
	m.index[m.rows[i].id] = i
	m.rows[last] = row{}
	m.rows = m.rows[:last]
	delete(m.index, id)
}

// search compares the query with each row that passes its filter; ok is false if
// the file must be searched.
func (m *matrix) search(ctx context.Context, q vectorstore.Query) (hits []vectorstore.Hit, ok bool) {
	select {
	case <-m.ready:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return nil, false
	}
	passes := passing(q)
	query := unit(q.Embedding)
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.unusable {
		return nil, false
	}
	// Whenever twice the limit of hits are collected, only the nearest half is kept.
	least := math.Inf(-1)
	for i := range m.rows {
		r := &m.rows[i]
		if !passes(r) {
			continue
		}
		if similarity := float64(memory.Dot(query, r.embedding)); similarity >= least {
			hits = append(hits, vectorstore.Hit{ID: r.id, Similarity: max(-1, min(1, similarity))})
		}
		if len(hits) == 2*q.Limit {
			hits = nearest(hits, q.Limit)
			least = hits[q.Limit-1].Similarity
		}
	}
	return nearest(hits, q.Limit), true
}

// nearest returns the limit nearest hits in order.
func nearest(hits []vectorstore.Hit, limit int) []vectorstore.Hit {
	slices.SortFunc(hits, vectorstore.CompareHits)
	return hits[:min(limit, len(hits))]
}

// passing returns a function that reports whether a row passes a query's filter.
func passing(q vectorstore.Query) func(r *row) bool {
	var domains, kinds []unique.Handle[string]
	for _, d := range q.Domains {
		domains = append(domains, unique.Make(string(d)))
	}
	for _, t := range q.Types {
		kinds = append(kinds, unique.Make(string(t)))
	}
	shared, agent := unique.Make(""), unique.Make(q.AgentID)
	since, until := int64(math.MinInt64), int64(math.MaxInt64)
	if !q.Since.IsZero() {
		since = q.Since.UnixMilli()
	}
	if !q.Until.IsZero() {
		until = q.Until.UnixMilli()
	}
	return func(r *row) bool {
		return (domains == nil || slices.Contains(domains, r.domain)) &&
			(kinds == nil || slices.Contains(kinds, r.kind)) &&
			(agent == shared || r.agent == shared || r.agent == agent) &&
			r.created >= since && r.created < until
	}
}
