// Package postgrestest gives each test its own schema on a real Postgres:
//
//	HIPPOCAMPUS_TEST_POSTGRES_URL -> fresh schema -> URL with its search_path
//	HIPPOCAMPUS_TEST_PGVECTOR_URL -> the same on a Postgres that has pgvector
package postgrestest

import (
	"context"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/internal/memory"
)

// Env names the server that tests use, and PgvectorEnv the one with pgvector.
const (
	Env         = "HIPPOCAMPUS_TEST_POSTGRES_URL"
	PgvectorEnv = "HIPPOCAMPUS_TEST_PGVECTOR_URL"
)

// URL creates an empty schema, which is dropped when the test ends, and returns a
// database URL that reads and writes there.
func URL(t testing.TB) string {
	t.Helper()
	return urlOn(t, Env)
}

// PgvectorURL is URL on the server that has the extension vector.
func PgvectorURL(t testing.TB) string {
	t.Helper()
	return urlOn(t, PgvectorEnv)
}

func urlOn(t testing.TB, env string) string {
	t.Helper()
	server := os.Getenv(env)
	if server == "" {
		t.Fatalf(`%s is not set: run ./scripts/test, or: eval "$(scripts/services env)"`, env)
	}
	u, err := url.Parse(server)
	if err != nil {
		t.Fatalf("%s is not a URL: postgres://USER:PASSWORD@HOST:PORT/DATABASE", env)
	}
	schema := "test_" + strings.ReplaceAll(memory.NewID(), "-", "")
	execute(t, server, `CREATE SCHEMA `+schema)
	query := u.Query()
	query.Set("search_path", schema)
	u.RawQuery = query.Encode()
	t.Cleanup(func() {
		execute(t, u.String(), checkEmbeddings)
		execute(t, server, `DROP SCHEMA `+schema+` CASCADE`)
	})
	return u.String()
}

// checkEmbeddings runs at the end of every test. It fails unless each memory has one
// embedding row whose columns agree with the memory's.
const checkEmbeddings = `DO $$ BEGIN
	IF to_regclass('embeddings') IS NOT NULL THEN
		ASSERT NOT EXISTS (
			SELECT FROM agent_memories m FULL JOIN embeddings e ON e.memory_id = m.id
			WHERE (e.app_id, e.user_id, e.active, e.model) IS DISTINCT FROM
				(m.app_id, m.user_id, m.status = 'active', m.embedding_model)),
			'the embeddings are not those of the memories';
	END IF;
END $$`

func execute(t testing.TB, server, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatalf("Postgres at %s does not answer (start it with scripts/services up): %v", server, err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}
