package pgvector

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/vectorstore"
)

// The bounds of hnsw.ef_search, the size of the candidate list of an index
// search: the larger, the fewer hits it misses.
const (
	minEF = 100
	maxEF = 1000
)

// Search compares the query with all of a user's records if they are few, or if there is no index or no type vector.
// Otherwise it searches the index, and compares all records only if the index finds too few hits, as may happen if few
// records pass the filter.
func (s *Store) Search(ctx context.Context, q vectorstore.Query) (hits []vectorstore.Hit, err error) {
	if err := vectorstore.CheckQuery(s.space, q); err != nil {
		return nil, err
	}
	err = s.call(ctx, "searching vectors", func(ctx context.Context) error {
		if s.plain.Load() {
			hits, err = s.comparePlain(ctx, q)
			return err
		}
		many := false
		if hits, many, err = s.compare(ctx, q, s.graph.kind != "" && q.Limit <= maxEF); err != nil || !many {
			return err
		}
		if hits, err = s.searchIndex(ctx, q); err != nil || len(hits) == q.Limit {
			return err
		}
		hits, _, err = s.compare(ctx, q, false)
		return err
	})
	return hits, err
}

// compare compares the query with each of the owner's records that pass its
// filter. If fewOnly is set and the owner has more than options.Exact records, it
// compares nothing and reports many.
func (s *Store) compare(
	ctx context.Context, q vectorstore.Query, fewOnly bool,
) (hits []vectorstore.Hit, many bool, err error) {
	sql, args := s.compareSQL(q, fewOnly)
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

// compareSQL is the statement of compare. Ordering by id also keeps Postgres from
// using the HNSW index. The left join returns a row even if nothing is compared.
func (s *Store) compareSQL(q vectorstore.Query, fewOnly bool) (sql string, args []any) {
	where, args := filter(q, q.Embedding, q.Limit)
	owned := `SELECT false AS many`
	if fewOnly {
		args = append(args, s.options.Exact)
		exact := "$" + strconv.Itoa(len(args))
		owned = `SELECT count(*) > ` + exact + ` AS many FROM (
			SELECT FROM ` + s.table + ` WHERE app_id = $1 AND user_id = $2 LIMIT ` + exact + `::bigint + 1) AS first`
	}
	return `WITH owned AS MATERIALIZED (` + owned + `), near AS MATERIALIZED (
		SELECT id, ` + s.distance("embedding", s.queryVector()) + ` AS distance FROM ` + s.table + `
		WHERE NOT (SELECT many FROM owned) AND ` + where + `)
	SELECT many, id, distance FROM owned LEFT JOIN near ON true ORDER BY distance, id LIMIT $4`, args
}

// searchIndex searches the HNSW index, unless the planner finds a better plan
// from the owner's share of the table. It may find fewer hits than exist.
func (s *Store) searchIndex(ctx context.Context, q vectorstore.Query) (hits []vectorstore.Hit, err error) {
	batch := &pgx.Batch{} // one transaction, one round trip
	s.queueIndexSearch(batch, q, "").Query(func(rows pgx.Rows) error {
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

// queueIndexSearch queues the statements of searchIndex and returns the last
// one, which has the prefix and returns the hits.
func (s *Store) queueIndexSearch(batch *pgx.Batch, q vectorstore.Query, prefix string) *pgx.QueuedQuery {
	batch.Queue(`SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('hnsw.ef_search', $1, true)`,
		strconv.Itoa(min(max(q.Limit, minEF), maxEF)))
	if s.graph.iterative {
		batch.Queue(`SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true)`)
	}
	where, args := filter(q, q.Embedding, q.Limit)
	return batch.Queue(prefix+`WITH near AS MATERIALIZED (
		SELECT id, `+s.distance("embedding", s.queryVector())+` AS distance FROM `+s.table+`
		WHERE `+where+` ORDER BY `+s.distance(s.indexed("embedding"), s.indexed(s.queryVector()))+` LIMIT $4)
	SELECT id, distance FROM near ORDER BY distance, id`, args...)
}

// queryVector is the SQL expression of the query's vector.
func (s *Store) queryVector() string { return `$3::real[]::` + s.schema + `.vector` }

// distance is the SQL expression of 1 - cosine, 0..2, of two vectors.
func (s *Store) distance(a, b string) string { return a + ` OPERATOR(` + s.schema + `.<=>) ` + b }

func hit(id string, distance float64) vectorstore.Hit {
	return vectorstore.Hit{ID: id, Similarity: min(max(1-distance, -1), 1)}
}

// filter is the condition of a query with its arguments. Other arguments of the
// statement are $3 and following.
func filter(q vectorstore.Query, others ...any) (where string, args []any) {
	terms := []string{"app_id = $1", "user_id = $2"}
	args = append([]any{q.Owner.AppID, q.Owner.UserID}, others...)
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

// Scan reads records in id order.
func (s *Store) Scan(ctx context.Context, after string, limit int, f func(vectorstore.Record) error) error {
	return vectorstore.ScanPages(after, limit, func(after string, limit int) (page []vectorstore.Record, err error) {
		err = s.call(ctx, "scanning vectors", func(ctx context.Context) error {
			rows, _ := s.pool.Query(ctx, `SELECT id, app_id, user_id, agent_id, domain, memory_type, created_at, content
				FROM `+s.table+` WHERE id > $1 ORDER BY id LIMIT $2`, after, limit)
			page, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r vectorstore.Record, err error) {
				var created int64
				err = row.Scan(&r.ID, &r.AppID, &r.UserID, &r.AgentID, &r.Domain, &r.Type, &created, &r.Content)
				r.CreatedAt = time.UnixMilli(created).UTC()
				return r, err
			})
			return err
		})
		return page, err
	}, f)
}
