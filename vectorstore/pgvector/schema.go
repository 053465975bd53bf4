package pgvector

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// tablePrefix is the prefix of the names of all tables of vectors.
const tablePrefix = "memory_vectors_"

// tableName is the table of a space, such as
// memory_vectors_text_embedding_v4_1024_1c0e5e1f. The hash distinguishes models
// whose names differ only in characters that the slug drops. The name needs no quotes.
func tableName(space vectorstore.Space) string {
	sum := sha256.Sum256([]byte(space.Model))
	slug := vectorstore.Slug(strings.ToLower(space.Model), 20, "", '_')
	return fmt.Sprintf("%s%s_%d_%x", tablePrefix, slug, space.Dim, sum[:4])
}

// columns of a table of records. toast_tuple_target keeps rows of up to a page
// whole, so that a comparison reads only pages of the table. Postgres moves a
// longer content out of its row before it moves the vector.
const columns = `(
	id          text COLLATE "C" PRIMARY KEY,
	app_id      text COLLATE "C" NOT NULL,
	user_id     text COLLATE "C" NOT NULL,
	agent_id    text COLLATE "C" NOT NULL,
	domain      text COLLATE "C" NOT NULL,
	memory_type text COLLATE "C" NOT NULL,
	created_at  bigint NOT NULL, -- unix milliseconds
	embedding   %s NOT NULL,
	content     text NOT NULL
) WITH (toast_tuple_target = 8160)`

// Ensure creates the table of the space if it does not exist.
func (s *Store) Ensure(ctx context.Context) error {
	var created, plain bool
	const key = `hashtextextended('hippocampus tables of vectors ' || current_schema(), 0)`
	err := s.inLockedTx(ctx, key, func(ctx context.Context, tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `SELECT atttypid = 'bytea'::regtype FROM pg_attribute
			WHERE attrelid = to_regclass($1) AND attname = 'embedding'`, s.table).Scan(&plain)
		if created = errors.Is(err, pgx.ErrNoRows); created {
			plain = s.schema == ""
			err = s.create(ctx, tx, s.table)
		}
		return err
	})
	if err != nil {
		return failed(ctx, "preparing the table of vectors", err)
	}
	s.plain.Store(plain)
	if created {
		s.losses.Add(1)
	}
	return nil
}

// inLockedTx runs f in one transaction that holds an advisory lock, since IF NOT
// EXISTS does not wait for concurrent creators.
func (s *Store) inLockedTx(ctx context.Context, key string, f func(ctx context.Context, tx pgx.Tx) error) error {
	return s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(`+key+`)`); err != nil {
			return err
		}
		return f(ctx, tx)
	})
}

// findExtension finds the schema and the version of the extension. If it does
// not exist, findExtension creates it in the schema public, which outlives the
// schema of one installation. If that fails and the options allow it, the store works without the extension.
func (s *Store) findExtension(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, setupTimeout)
	defer cancel()
	find := func() (version string, err error) {
		err = s.pool.QueryRow(ctx, `SELECT quote_ident(n.nspname), e.extversion
			FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'`).
			Scan(&s.schema, &version)
		return version, err
	}
	version, err := find()
	if errors.Is(err, pgx.ErrNoRows) {
		const key = `hashtextextended('hippocampus extension vector', 0)`
		err = s.inLockedTx(ctx, key, func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS vector SCHEMA public`)
			return err
		})
		if sqlState(err) != "" && s.options.Plain {
			return nil
		}
		if sqlState(err) != "" {
			return memory.Errorf(memory.KindUnavailable, "the database has no extension vector, and it could not be created: "+
				"install pgvector on the machine of the database (such as apt-get install postgresql-16-pgvector), "+
				"and have a superuser run CREATE EXTENSION vector in this database: %w", err)
		}
		if err == nil {
			version, err = find()
		}
	}
	if err != nil {
		return err
	}
	s.graph, err = graphOf(s.options, version)
	return err
}

// create creates an empty table with its indexes.
func (s *Store) create(ctx context.Context, tx pgx.Tx, table string) error {
	column := fmt.Sprintf("%s.vector(%d)", s.schema, s.space.Dim)
	if s.schema == "" {
		column = fmt.Sprintf("bytea CHECK (octet_length(embedding) = %d)", binarySize(s.space.Dim))
	}
	statements := []string{
		`CREATE TABLE ` + table + ` ` + fmt.Sprintf(columns, column),
		`ALTER TABLE ` + table + ` ALTER COLUMN embedding SET STORAGE EXTERNAL`, // vectors do not compress
		`CREATE INDEX ON ` + table + ` (app_id, user_id)`,
	}
	if s.graph.kind != "" {
		statements = append(statements, fmt.Sprintf(`CREATE INDEX ON %s USING hnsw (%s %s.%s_cosine_ops)`,
			table, s.indexed("embedding"), s.schema, s.graph.kind))
	}
	return execAll(ctx, tx, statements)
}

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
