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
	owner    memory.Owner
	maxExact int // most rows that keep their exact vectors

	mu      sync.RWMutex
	rows    []row
	index   map[string]int // index in rows by id
	exact   bool           // the rows have their exact vectors
	changes []change       // received before the rows were read
	bytes   int            // approximate size
	state   state
}

type state int

const (
	reading  state = iota
	ready          // the rows have been read
	unusable       // the rows could not be read: the file must be searched
)

type row struct {
	id                  string
	agent, domain, kind unique.Handle[string]
	created             int64 // unix milliseconds
	codes               codes
	exact               []float32 // unit length; nil if the owner has many rows
}

func (r *row) bytes() int { return len(r.id) + len(r.codes.numbers) + 4*len(r.exact) + 180 }

// change is a write: it removed the records with the ids and added the records.
type change struct {
	ids     []string
	records []vectorstore.Record
}

func newMatrix(owner memory.Owner, maxExact int) *matrix {
	return &matrix{owner: owner, maxExact: maxExact, exact: true, index: map[string]int{}}
}

// read fills the matrix with the owner's records. If they take more than limit
// bytes or have another dimension, the matrix is unusable.
func (m *matrix) read(ctx context.Context, db *sql.DB, dim, limit int) error {
	read, err := m.readRows(ctx, db, dim, limit)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state = ready
	if read == nil {
		m.state = unusable
	}
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
	var vector []float32
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
		vector = rowcodec.AppendVector(vector[:0], embedding)
		r.encode(vector, m.exact)
		read = append(read, r)
		if bytes += r.bytes(); bytes > limit || len(vector) != dim {
			return nil, nil
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return read, nil
}

// encode sets the row's vector, of unit length.
func (r *row) encode(v []float32, exact bool) {
	r.codes = encoded(v)
	if exact {
		r.exact = slices.Clone(v)
	}
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
	if m.state == reading {
		m.changes = append(m.changes, c)
		return
	}
	m.apply(c)
}

func (m *matrix) apply(c change) {
	if m.state == unusable {
		return
	}
	for _, id := range c.ids {
		m.remove(id)
	}
	for _, r := range c.records {
		if r.Owner == m.owner {
			added := row{
				id: r.ID, agent: unique.Make(r.AgentID),
				domain: unique.Make(string(r.Domain)), kind: unique.Make(string(r.Type)),
				created: r.CreatedAt.UnixMilli(),
			}
			added.encode(unit(r.Embedding), m.exact)
			m.add(added)
		}
	}
}

func (m *matrix) add(r row) {
	m.index[r.id] = len(m.rows)
	m.rows = append(m.rows, r)
	m.bytes += r.bytes()
	if m.exact && len(m.rows) > m.maxExact {
		m.withoutExact()
	}
}

// dropExact removes the exact vectors if there are more rows than kept. It reports whether it did.
func (m *matrix) dropExact(kept int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.exact || m.state != ready || len(m.rows) <= kept {
		return false
	}
	m.withoutExact()
	return true
}

func (m *matrix) withoutExact() {
	m.exact = false
	for i := range m.rows {
		m.bytes -= m.rows[i].bytes()
		m.rows[i].exact = nil
		m.bytes += m.rows[i].bytes()
	}
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

// search compares the query with each row that passes its filter, by their codes. If the
// rows lack their exact vectors, it returns the ids of the rows among which the nearest are, to
// be compared in the file. ok is false if all of the file must be searched.
func (m *matrix) search(q vectorstore.Query) (hits []vectorstore.Hit, among []string, ok bool) {
	passes := passing(q)
	exact := unit(q.Embedding)
	query := encodedQuery(exact)
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.state != ready {
		return nil, nil, false
	}
	near := newContenders(q.Limit)
	for i := range m.rows {
		if r := &m.rows[i]; passes(r) {
			least, most := query.bounds(&r.codes)
			near.add(r, least, most)
		}
	}
	found := near.all()
	if m.exact {
		for _, c := range found {
			similarity := float64(memory.Dot(exact, c.row.exact))
			hits = append(hits, vectorstore.Hit{ID: c.row.id, Similarity: max(-1, min(1, similarity))})
		}
		return nearest(hits, q.Limit), nil, true
	}
	for _, c := range found {
		among = append(among, c.row.id)
	}
	return nil, among, len(among) <= len(m.rows)/leastSaved
}

// leastSaved is the least ratio of an owner's records to the records that are compared in the file by their ids.
// Finding a record by its id takes longer than reading the next one.
const leastSaved = 4

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
