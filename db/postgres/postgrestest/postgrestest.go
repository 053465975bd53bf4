// Package postgrestest gives each test its own schema on a real Postgres:
//
//	HIPPOCAMPUS_TEST_POSTGRES_URL -> fresh schema -> URL with its search_path
//	HIPPOCAMPUS_TEST_PGVECTOR_URL -> the same on a Postgres that has pgvector
package postgrestest

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
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

// DatabaseURL creates an empty database, which is dropped when the test ends, and returns its URL. In the database that
// other tests share, Postgres discards every plan when one of them creates or drops a schema.
func DatabaseURL(t testing.TB) string {
	t.Helper()
	return databaseOn(t, Env)
}

// PgvectorDatabaseURL is DatabaseURL on the server that has the extension vector.
func PgvectorDatabaseURL(t testing.TB) string {
	t.Helper()
	return databaseOn(t, PgvectorEnv)
}

func databaseOn(t testing.TB, env string) string {
	t.Helper()
	u := serverURL(t, env)
	server, database := u.String(), newName()
	execute(t, server, `CREATE DATABASE `+database)
	t.Cleanup(func() { execute(t, server, `DROP DATABASE `+database+` WITH (FORCE)`) })
	u.Path = "/" + database
	return u.String()
}

// Program returns the path of a program of the server's version, such as pg_dump, which refuses servers that are newer.
// Without such a file on this machine, it returns the name.
func Program(t testing.TB, database, name string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	var folder string
	if err := conn.QueryRow(ctx, `SELECT setting FROM pg_config WHERE name = 'BINDIR'`).Scan(&folder); err != nil {
		t.Fatal(err)
	}
	if path := filepath.Join(folder, name); fileExists(path) {
		return path
	}
	return name
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// serverURL is the URL that the variable env has.
func serverURL(t testing.TB, env string) *url.URL {
	t.Helper()
	server := os.Getenv(env)
	if server == "" {
		t.Fatalf(`%s is not set: run ./scripts/test, or: eval "$(scripts/services env)"`, env)
	}
	u, err := url.Parse(server)
	if err != nil {
		t.Fatalf("%s is not a URL: postgres://USER:PASSWORD@HOST:PORT/DATABASE", env)
	}
	return u
}

func newName() string { return "test_" + strings.ReplaceAll(memory.NewID(), "-", "") }

func urlOn(t testing.TB, env string) string {
	t.Helper()
	u := serverURL(t, env)
	server, schema := u.String(), newName()
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
