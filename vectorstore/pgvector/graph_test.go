package pgvector

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// crowd is a table of one large user among small ones.
type crowd struct {
	*Store
	large   memory.Owner
	small   memory.Owner // one of the small users
	records []vectorstore.Record
}

const (
	crowdDim   = 64
	largeCount = 4000 // records of the large user
	smallCount = 50   // records of each small user
	smallUsers = 40
	topics     = 60 // that vectors cluster around
)

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	s, err := Open(t.Context(), Options{
		URL: postgrestest.PgvectorURL(t), Space: vectorstore.Space{Model: "crowd", Dim: crowdDim}, Exact: 1000,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	c := &crowd{
		Store: s,
		large: memory.Owner{AppID: "app", UserID: "large"},
		small: memory.Owner{AppID: "app", UserID: "small0"},
	}
	dice := rand.New(rand.NewPCG(1, 2))
	add := func(o memory.Owner, domain memory.Domain) {
		c.records = append(c.records, vectorstore.Record{
			ID: memory.NewID(), Owner: o, Domain: domain, Type: memory.TypeFact, Content: "x", Embedding: direction(dice),
		})
	}
	for i := range largeCount {
		domain := memory.Preferences
		if i%500 == 0 {
			domain = memory.Tasks // few
		}
		add(c.large, domain)
	}
	for i := range smallUsers * smallCount {
		add(memory.Owner{AppID: "app", UserID: fmt.Sprint("small", i%smallUsers)}, memory.Preferences)
	}
	dice.Shuffle(len(c.records), func(i, j int) { c.records[i], c.records[j] = c.records[j], c.records[i] })
	for part := range slices.Chunk(c.records, 1000) {
		if err := s.Insert(t.Context(), part); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.pool.Exec(t.Context(), `ANALYZE `+s.table); err != nil {
		t.Fatal(err)
	}
	return c
}

// direction draws a unit vector near one of the topics.
func direction(dice *rand.Rand) []float32 {
	topic := rand.New(rand.NewPCG(uint64(dice.IntN(topics)), 7))
	v, square := make([]float32, crowdDim), 0.0
	for i := range v {
		x := topic.NormFloat64() + 0.7*dice.NormFloat64()
		v[i], square = float32(x), square+x*x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(square))
	}
	return v
}

// nearest is a reference implementation of Search.
func (c *crowd) nearest(q vectorstore.Query) []vectorstore.Hit {
	var hits []vectorstore.Hit
	for _, r := range c.records {
		if r.Owner != q.Owner || len(q.Domains) > 0 && !slices.Contains(q.Domains, r.Domain) {
			continue
		}
		dot := 0.0
		for i, x := range r.Embedding {
			dot += float64(x) * float64(q.Embedding[i])
		}
		hits = append(hits, vectorstore.Hit{ID: r.ID, Similarity: dot})
	}
	slices.SortFunc(hits, vectorstore.CompareHits)
	return hits[:min(len(hits), q.Limit)]
}

// plan is Postgres' plan of a search of the index.
func (c *crowd) plan(t *testing.T, q vectorstore.Query) string {
	t.Helper()
	var lines []string
	batch := &pgx.Batch{}
	c.queueIndexSearch(batch, q, `EXPLAIN `).Query(func(rows pgx.Rows) (err error) {
		lines, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err := c.pool.SendBatch(t.Context(), batch).Close(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// recall is the share of the nearest records that a search finds, over many queries.
func (c *crowd) recall(
	t *testing.T, search func(context.Context, vectorstore.Query) ([]vectorstore.Hit, error),
) float64 {
	t.Helper()
	found, wanted := 0, 0
	dice := rand.New(rand.NewPCG(3, 4))
	for range 40 {
		q := vectorstore.Query{Owner: c.large, Embedding: direction(dice), Limit: 50}
		hits, err := search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		known := map[string]bool{}
		for _, h := range hits {
			known[h.ID] = true
		}
		for _, h := range c.nearest(q) {
			wanted++
			if known[h.ID] {
				found++
			}
		}
	}
	return float64(found) / float64(wanted)
}

func TestSearch_UsesIndexForLargeUsers(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	t.Run("large user by the index", c.testLarge)
	t.Run("few records exactly", c.testFew)
	t.Run("index finds too few", c.testTooFew) // last, since it changes the store
}

// The index finds nearly all of a large user's nearest records, and exactly as
// many as the query's limit even if few records pass the filter.
func (c *crowd) testLarge(t *testing.T) {
	query := vectorstore.Query{Owner: c.large, Embedding: c.records[0].Embedding, Limit: 50}
	if plan := c.plan(t, query); !strings.Contains(plan, "embedding_idx") || strings.Contains(plan, "Seq Scan") {
		t.Errorf("the index is not used:\n%s", plan)
	}
	if got := c.recall(t, c.Search); got < 0.97 {
		t.Errorf("the index finds %.3f of the 50 nearest", got)
	} else {
		t.Logf("the index finds %.4f of the 50 nearest", got)
	}

	rare := query
	rare.Domains = []memory.Domain{memory.Tasks}
	hits, err := c.Search(t.Context(), rare)
	if err != nil {
		t.Fatal(err)
	}
	same(t, hits, c.nearest(rare))
}

// A search compares exactly, by the index of users, if the user has few records
// or if the limit exceeds maxEF.
func (c *crowd) testFew(t *testing.T) {
	for _, q := range []vectorstore.Query{
		{Owner: c.small, Embedding: c.records[1].Embedding, Limit: 50},
		{Owner: memory.Owner{AppID: "app", UserID: "nobody"}, Embedding: c.records[1].Embedding, Limit: 50},
		{Owner: c.large, Embedding: c.records[1].Embedding, Limit: maxEF + 1},
	} {
		hits, err := c.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		same(t, hits, c.nearest(q))
	}
	sql, args := c.compareSQL(vectorstore.Query{Owner: c.small, Embedding: c.records[1].Embedding, Limit: 50}, true)
	c.explain(t, sql, args, c.table+`_app_id_user_id_idx`)
	c.explain(t, deleteSQL(c.table), []any{[]string{c.records[0].ID}}, "_pkey")
	c.explain(t, `SELECT count(*) FROM `+c.table+` WHERE app_id = $1 AND user_id = $2`, []any{"app", "small1"},
		"_app_id_user_id_idx")
	c.explain(t, `SELECT id FROM `+c.table+` WHERE id > $1 ORDER BY id LIMIT $2`, []any{"", 100}, "_pkey")
}

// If the index finds too few records that pass, because the extension is too old
// for iterative searches or because they take too long, all records are compared.
func (c *crowd) testTooFew(t *testing.T) {
	c.graph.iterative = false
	// Without the index of users, the planner uses the HNSW index.
	if _, err := c.pool.Exec(t.Context(), `DROP INDEX `+c.table+`_app_id_user_id_idx`); err != nil {
		t.Fatal(err)
	}
	dice := rand.New(rand.NewPCG(5, 6))
	short := 0
	for range 20 {
		q := vectorstore.Query{Owner: c.large, Embedding: direction(dice), Limit: 90}
		found, err := c.searchIndex(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) < q.Limit {
			short++
		}
		hits, err := c.Search(t.Context(), q)
		if err != nil || len(hits) != q.Limit {
			t.Errorf("%d hits, %v, want %d", len(hits), err, q.Limit)
		}
	}
	if short == 0 {
		t.Error("every search of the index found enough: this test shows nothing")
	}
}

// explain checks that a statement uses an index and scans no table sequentially.
func (s *Store) explain(t *testing.T, sql string, args []any, index string) {
	t.Helper()
	rows, _ := s.pool.Query(t.Context(), `EXPLAIN `+sql, args...)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	plan := strings.Join(lines, "\n")
	if err != nil || !strings.Contains(plan, index) || strings.Contains(plan, "Seq Scan") {
		t.Errorf("no index serves %s\n%v\n%s", sql, err, plan)
	}
}

func same(t *testing.T, got, want []vectorstore.Hit) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d hits, want %d", len(got), len(want))
	}
	for i := range got {
		if math.Abs(got[i].Similarity-want[i].Similarity) > 1e-6 {
			t.Errorf("hit %d is %v, want %v", i, got[i], want[i])
		}
	}
}

// A comparison in this process reads the user's rows by the index of users.
func TestPlain_SearchUsesIndexOfUsers(t *testing.T) {
	t.Parallel()
	const users, each = 100, 20
	s, err := Open(t.Context(), Options{
		URL: postgrestest.URL(t), Space: vectorstore.Space{Model: "crowd", Dim: crowdDim}, Plain: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	dice := rand.New(rand.NewPCG(1, 2))
	var records []vectorstore.Record
	for i := range users * each {
		records = append(records, vectorstore.Record{
			ID: memory.NewID(), Owner: memory.Owner{AppID: "app", UserID: fmt.Sprint("user", i%users)},
			Domain: memory.Preferences, Type: memory.TypeFact, Content: "x", Embedding: direction(dice),
		})
	}
	if err := s.Insert(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	if _, err := s.pool.Exec(t.Context(), `ANALYZE `+s.table); err != nil {
		t.Fatal(err)
	}
	sql, args := s.plainSQL(vectorstore.Query{Owner: records[0].Owner, Embedding: records[0].Embedding, Limit: 10})
	s.explain(t, sql, args, s.table+`_app_id_user_id_idx`)
}
