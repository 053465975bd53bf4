package postgrestest

import (
	"sync"
	"testing"
)

// Pool lends migrated schemas to many tests and empties them in between, since
// migrating takes longer than most tests:
//
//	URL + prepare -> schema -> test -> empty schema -> next test
type Pool struct {
	t       testing.TB
	prepare func(url string)

	mu   sync.Mutex
	free []string
}

// NewPool returns a pool without schemas. prepare migrates a fresh schema. The
// schemas are dropped when t ends.
func NewPool(t testing.TB, prepare func(url string)) *Pool { return &Pool{t: t, prepare: prepare} }

// URL returns the database URL of a schema without rows that no other test uses
// until t ends.
func (p *Pool) URL(t testing.TB) string {
	t.Helper()
	url := p.take()
	if url == "" {
		url = URL(p.t)
		p.prepare(url)
	}
	t.Cleanup(func() {
		execute(t, url, checkEmbeddings+";"+empty)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.free = append(p.free, url)
	})
	return url
}

// take returns a free schema, or "" if all are lent.
func (p *Pool) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) == 0 {
		return ""
	}
	url := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	return url
}

// empty brings the tables to the state that the migrations leave. It deletes rows,
// since truncating a table creates its files again.
const empty = `DO $$ DECLARE name text; BEGIN
	SET LOCAL session_replication_role = replica; -- no triggers, no foreign keys
	FOR name IN
		SELECT format('%I', relname) FROM pg_class
		WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
			AND relname NOT IN ('goose_db_version', 'river_migration', 'announcements_purged')
	LOOP
		EXECUTE 'DELETE FROM ' || name;
	END LOOP;
	UPDATE announcements_purged SET xact = 0, seq = 0;
END $$`
