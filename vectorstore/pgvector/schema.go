package pgvector

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// tablePrefix begins the names of all tables of vectors.
const tablePrefix = "memory_vectors_"

// tableName is the table of a space, such as
// memory_vectors_text_embedding_v4_1024_1c0e5e1f. Models whose names differ only
// in other characters are told apart by the hash. It needs no quotes.
func tableName(space vectorstore.Space) string {
	const maxSlug = 20
	slug := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, strings.ToLower(space.Model))
	sum := sha256.Sum256([]byte(space.Model))
	return fmt.Sprintf("%s%s_%d_%s", tablePrefix, slug[:min(len(slug), maxSlug)], space.Dim, hex.EncodeToString(sum[:4]))
}

// columns of a table of records. Rows of up to a page stay whole, so that
// comparing vectors reads nothing but pages of the table: a longer content goes
// out of its row before the vector does.
const columns = `(
	id          text COLLATE "C" PRIMARY KEY,
	app_id      text COLLATE "C" NOT NULL,
	user_id     text COLLATE "C" NOT NULL,
	agent_id    text COLLATE "C" NOT NULL,
	domain      text COLLATE "C" NOT NULL,
	memory_type text COLLATE "C" NOT NULL,
	created_at  bigint NOT NULL, -- unix milliseconds
	embedding   %s.vector(%d) NOT NULL,
	content     text NOT NULL
) WITH (toast_tuple_target = 8160)`

// Ensure makes the table of the space where it is absent.
func (s *Store) Ensure(ctx context.Context) error {
	made := false
	err := s.alone(ctx, `hashtextextended('hippocampus tables of vectors ' || current_schema(), 0)`, func(ctx context.Context, tx pgx.Tx) error {
		var there bool
		if err := tx.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, s.table).Scan(&there); err != nil || there {
			return err
		}
		made = true
		return s.create(ctx, tx, s.table)
	})
	if err != nil {
		return failed(ctx, "preparing the table of vectors", err)
	}
	if made {
		s.losses.Add(1)
	}
	return nil
}

// alone runs f in one transaction that waits for others who make the same: IF
// NOT EXISTS does not.
func (s *Store) alone(ctx context.Context, key string, f func(ctx context.Context, tx pgx.Tx) error) error {
	return s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(`+key+`)`); err != nil {
			return err
		}
		return f(ctx, tx)
	})
}

// findExtension learns where the extension is and what it can do; where it is
// absent it makes it, in public, which outlives the schema of one installation.
func (s *Store) findExtension(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, setupTimeout)
	defer cancel()
	find := func() (version string, err error) {
		err = s.pool.QueryRow(ctx, `SELECT quote_ident(n.nspname), e.extversion
			FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'`).Scan(&s.in, &version)
		return version, err
	}
	version, err := find()
	if errors.Is(err, pgx.ErrNoRows) {
		err = s.alone(ctx, `hashtextextended('hippocampus extension vector', 0)`, func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS vector SCHEMA public`)
			return err
		})
		if sqlState(err) != "" {
			return memory.Errorf(memory.KindUnavailable, "the database has no extension vector, and it could not be made: install pgvector on the machine "+
				"of the database (such as apt-get install postgresql-16-pgvector), and have a superuser run CREATE EXTENSION vector in this database: %w", err)
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

// create makes an empty table with its indexes.
func (s *Store) create(ctx context.Context, tx pgx.Tx, table string) error {
	statements := []string{
		`CREATE TABLE ` + table + ` ` + fmt.Sprintf(columns, s.in, s.space.Dim),
		`CREATE INDEX ON ` + table + ` (app_id, user_id)`,
	}
	if s.graph.kind != "" {
		statements = append(statements, `CREATE INDEX ON `+table+` USING hnsw (`+s.graphed("embedding")+` `+s.in+`.`+s.graph.kind+`_cosine_ops)`)
	}
	for _, statement := range statements {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
