package pgvector

import (
	"context"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"hippocampus/vectorstore"
)

// maxWalk is how many hits a walk of the graph looks for at once
// (hnsw.ef_search), and minWalk how many at least: the more, the fewer it misses.
const (
	minWalk = 100
	maxWalk = 1000
)

// Search compares all of a user's records where they are few, or where there is
// no graph. Else it asks for the nearest by the graph, and where that gives up
// before it has found enough, as it may where few records pass the filter,
// compares them all.
func (s *Store) Search(ctx context.Context, q vectorstore.Query) (hits []vectorstore.Hit, err error) {
	if err := vectorstore.CheckQuery(s.space, q); err != nil {
		return nil, err
	}
	err = s.call(ctx, "searching vectors", func(ctx context.Context) error {
		many := false
		if hits, many, err = s.compare(ctx, q, s.graph.kind != "" && q.Limit <= maxWalk); err != nil || !many {
			return err
		}
		if hits, err = s.walk(ctx, q); err != nil || len(hits) == q.Limit {
			return err
		}
		hits, _, err = s.compare(ctx, q, false)
		return err
	})
	return hits, err
}

// compare compares the query with each of the owner's records that pass; with
// fewOnly, unless the owner has more than options.Exact, which many says then.
func (s *Store) compare(ctx context.Context, q vectorstore.Query, fewOnly bool) (hits []vectorstore.Hit, many bool, err error) {
	sql, args := s.comparing(q, fewOnly)
	rows, _ := s.pool.Query(ctx, sql, args...)
	var id *string
	var distance *float64
	_, err = pgx.ForEachRow(rows, []any{&many, &id, &distance}, func() error {
		if id != nil {
			hits = append(hits, hit(*id, *distance))
		}
		return nil
	})
	return hits, many, err
}

// comparing is compare's statement. Its order has the id in it, which no graph
// has; that owned is joined has it answer a row in any case.
func (s *Store) comparing(q vectorstore.Query, fewOnly bool) (sql string, args []any) {
	where, args := filter(q)
	owned := `SELECT false AS many`
	if fewOnly {
		args = append(args, s.options.Exact)
		most := "$" + strconv.Itoa(len(args))
		owned = `SELECT count(*) > ` + most + ` AS many FROM (
			SELECT FROM ` + s.table + ` WHERE app_id = $1 AND user_id = $2 LIMIT ` + most + `::bigint + 1) AS first`
	}
	return `WITH owned AS MATERIALIZED (` + owned + `), near AS MATERIALIZED (
		SELECT id, ` + s.distance("embedding", s.wanted()) + ` AS distance FROM ` + s.table + `
		WHERE NOT (SELECT many FROM owned) AND ` + where + `)
	SELECT many, id, distance FROM owned LEFT JOIN near ON true ORDER BY distance, id LIMIT $4`, args
}

// walk asks for the nearest by the graph, if the planner finds nothing better:
// it knows what share of the table is the owner's. It may find fewer than there are.
func (s *Store) walk(ctx context.Context, q vectorstore.Query) (hits []vectorstore.Hit, err error) {
	batch := &pgx.Batch{} // one transaction, one round trip
	s.queueWalk(batch, q, "").Query(func(rows pgx.Rows) error {
		var id string
		var distance float64
		_, err := pgx.ForEachRow(rows, []any{&id, &distance}, func() error {
			hits = append(hits, hit(id, distance))
			return nil
		})
		return err
	})
	return hits, s.pool.SendBatch(ctx, batch).Close()
}

// queueWalk queues walk's statements, of which the last, prefixed, answers.
func (s *Store) queueWalk(batch *pgx.Batch, q vectorstore.Query, prefix string) *pgx.QueuedQuery {
	batch.Queue(`SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('hnsw.ef_search', $1, true)`,
		strconv.Itoa(min(max(q.Limit, minWalk), maxWalk)))
	if s.graph.iterates {
		batch.Queue(`SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true)`)
	}
	where, args := filter(q)
	return batch.Queue(prefix+`WITH near AS MATERIALIZED (
		SELECT id, `+s.distance("embedding", s.wanted())+` AS distance FROM `+s.table+`
		WHERE `+where+` ORDER BY `+s.distance(s.graphed("embedding"), s.graphed(s.wanted()))+` LIMIT $4)
	SELECT id, distance FROM near ORDER BY distance, id`, args...)
}

// wanted is the query's vector in SQL.
func (s *Store) wanted() string { return `$3::real[]::` + s.in + `.vector` }

// distance is 1 - cosine, 0..2, of two vectors in SQL.
func (s *Store) distance(a, b string) string { return a + ` OPERATOR(` + s.in + `.<=>) ` + b }

func hit(id string, distance float64) vectorstore.Hit {
	return vectorstore.Hit{ID: id, Similarity: min(max(1-distance, -1), 1)}
}

// filter is the condition of a query, whose vector is $3 and whose limit is $4.
func filter(q vectorstore.Query) (where string, args []any) {
	terms := []string{"app_id = $1", "user_id = $2"}
	args = []any{q.Owner.AppID, q.Owner.UserID, q.Embedding, q.Limit}
	add := func(term string, value any) {
		args = append(args, value)
		terms = append(terms, strings.Replace(term, "?", "$"+strconv.Itoa(len(args)), 1))
	}
	if len(q.Domains) > 0 {
		add("domain = ANY(?)", q.Domains)
	}
	if len(q.Types) > 0 {
		add("memory_type = ANY(?)", q.Types)
	}
	if q.AgentID != "" {
		add("agent_id IN ('', ?)", q.AgentID)
	}
	if !q.Since.IsZero() {
		add("created_at >= ?", q.Since.UnixMilli())
	}
	if !q.Until.IsZero() {
		add("created_at < ?", q.Until.UnixMilli())
	}
	return strings.Join(terms, " AND "), args
}
