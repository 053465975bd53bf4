package sqlitevec

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"slices"
	"strings"
	"sync"
	"unique"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// matrix is what a search needs of all records of one owner.
type matrix struct {
	owner memory.Owner
	ready chan struct{} // closed when the rows are read

	mu      sync.RWMutex
	rows    []row
	at      map[string]int // of each id in rows
	changes []change       // that came before the rows
	bytes   int            // what it takes, about
	void    bool           // it has nothing to go by: the file is to be searched
}

type row struct {
	id                  string
	agent, domain, kind unique.Handle[string]
	created             int64     // unix milliseconds
	embedding           []float32 // unit length
}

func (r row) bytes() int { return len(r.id) + 4*len(r.embedding) + 120 }

// change is that the records have taken the place of what was there under the ids.
type change struct {
	ids     []string
	records []vectorstore.Record
}

func newMatrix(owner memory.Owner) *matrix {
	return &matrix{owner: owner, ready: make(chan struct{}), at: map[string]int{}}
}

// read fills the matrix with the owner's records, unless they take more than
// limit bytes, or are not as they should be, which SQLite explains better.
func (m *matrix) read(ctx context.Context, db *sql.DB, dim, limit int) error {
	read, err := m.rowsOf(ctx, db, dim, limit)
	m.mu.Lock()
	defer m.mu.Unlock()
	defer close(m.ready)
	m.void = read == nil
	for _, r := range read {
		m.add(r)
	}
	for _, c := range m.changes {
		m.apply(c)
	}
	m.changes = nil
	return err
}

// rowsOf reads the owner's records; nil: they are not to be held.
func (m *matrix) rowsOf(ctx context.Context, db *sql.DB, dim, limit int) ([]row, error) {
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
		r.agent, r.domain, r.kind, r.embedding = unique.Make(agent), unique.Make(domain), unique.Make(kind), decode(embedding)
		if read, bytes = append(read, r), bytes+r.bytes(); bytes > limit || len(r.embedding) != dim {
			return nil, nil
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return read, nil
}

// size is what the matrix takes, in bytes, about.
func (m *matrix) size() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.bytes
}

// change has the matrix follow a write.
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
	if m.void {
		return
	}
	for _, id := range c.ids {
		m.remove(id)
	}
	for _, r := range c.records {
		if r.Owner == m.owner {
			m.add(row{
				id: r.ID, agent: unique.Make(r.AgentID), domain: unique.Make(string(r.Domain)), kind: unique.Make(string(r.Type)),
				created: r.CreatedAt.UnixMilli(), embedding: unit(r.Embedding),
			})
		}
	}
}

func (m *matrix) add(r row) {
	m.at[r.id] = len(m.rows)
	m.rows = append(m.rows, r)
	m.bytes += r.bytes()
}

// remove puts the last row in the place of the one of this id.
func (m *matrix) remove(id string) {
	i, ok := m.at[id]
	if !ok {
		return
	}
	m.bytes -= m.rows[i].bytes()
	last := len(m.rows) - 1
	m.rows[i] = m.rows[last]
	m.at[m.rows[i].id] = i
	m.rows[last] = row{}
	m.rows = m.rows[:last]
	delete(m.at, id)
}

// search compares the query with each row that passes; false: the file is to
// be searched.
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
	if m.void {
		return nil, false
	}
	// Twice as many as are wanted are gathered before the nearer half is kept.
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

// nearest are the limit hits that are nearest, in order.
func nearest(hits []vectorstore.Hit, limit int) []vectorstore.Hit {
	slices.SortFunc(hits, func(a, b vectorstore.Hit) int {
		if c := cmp.Compare(b.Similarity, a.Similarity); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return hits[:min(limit, len(hits))]
}

// passing tells the rows that a query's filter lets through.
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
