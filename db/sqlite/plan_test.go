package sqlite

import (
	"context"
	"database/sql/driver"
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/db/dbtest"
	"hippocampus/internal/memory"
)

// recorder keeps the statements that SQLite runs, with the number of their parameters.
type recorder struct {
	mu  sync.Mutex
	ran map[string]int
}

// connector is the package's connector, recorded.
func (r *recorder) connector(address string) (driver.Connector, error) {
	c, err := connector(address)
	return recordedConnector{c, r}, err
}

type recordedConnector struct {
	driver.Connector
	*recorder
}

func (c recordedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &recordedConn{Conn: conn, recorder: c.recorder}, nil
}

func (r *recorder) keep(query string, args int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ran[query] = args
}

type recordedConn struct {
	driver.Conn
	*recorder
}

func (c *recordedConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
}

func (c *recordedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.keep(query, strings.Count(query, "?"))
	return c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
}

func (c *recordedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.keep(query, len(args))
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

func (c *recordedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.keep(query, len(args))
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

// bigTables are the tables that no query may scan.
const bigTables = `(` +
	`agent_memories|turns|conversations|consolidation_jobs|candidates|memory_events|memory_relations|announcements|` +
	`user_states|api_keys|facts|instructions|instruction_versions|skills|skill_outcomes|memory_files|` +
	`memory_file_versions|recalls|indexes|active_days|user_zones|user_modes|message_ids|` +
	`refused_fields|token_days|policies|profile_schemas|filled_profiles|documents|participants|` +
	`episodes|episode_memories|episode_states|feedback|threshold_steps|pooled|river_job)`

var (
	bigTable = regexp.MustCompile(`\b` + bigTables + `\b`)
	scan     = regexp.MustCompile(`SCAN ` + bigTables + `\b`)
	// holds only waiting rows
	outbox = regexp.MustCompile(`SCAN agent_memories USING (COVERING )?INDEX agent_memories_outbox`)
)

// openRecorded opens a migrated store, whose statements since then are recorded.
func openRecorded(t *testing.T) (*Store, *recorder) {
	t.Helper()
	record := &recorder{ran: map[string]int{}}
	s, err := open(t.Context(), record.connector, Options{Path: filepath.Join(t.TempDir(), "test.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	record.mu.Lock()
	defer record.mu.Unlock()
	clear(record.ran)
	return s, record
}

// The test runs every query and explains its plan.
func TestPlans_UseIndexes(t *testing.T) {
	t.Parallel()
	s, record := openRecorded(t)
	dbtest.Load(t, s, 8)
	record.mu.Lock()
	clear(record.ran)
	record.mu.Unlock()
	dbtest.Exercise(t, s)

	explained := 0
	for query, args := range maps.Clone(record.ran) { // explaining is also recorded
		if !bigTable.MatchString(query) || strings.Contains(query, "river_migration") {
			continue
		}
		type step struct {
			id, parent, unused int
			detail             string
		}
		steps, err := collect(t.Context(), s.writer, func(p *step) []any {
			return []any{&p.id, &p.parent, &p.unused, &p.detail}
		},
			`EXPLAIN QUERY PLAN `+query, make([]any, args)...)
		if err != nil {
			t.Fatalf("%v\n%s", err, query)
		}
		for _, p := range steps {
			if scan.MatchString(p.detail) && !outbox.MatchString(p.detail) {
				t.Errorf("no index serves\n%s\n\n%s", query, p.detail)
			}
		}
		explained++
	}
	if explained < 60 {
		t.Errorf("only %d statements were explained: were the others not recorded?", explained)
	}
}

// Rows that the filters exclude are not read.
func TestListMemories_FiltersInTheIndex(t *testing.T) {
	t.Parallel()
	s, record := openRecorded(t)
	if _, err := s.ListMemories(t.Context(), db.MemoryFilter{
		Owner: memory.Owner{AppID: "app", UserID: "user"}, Limit: 1,
		Types: []memory.Type{memory.TypeSkill}, Domains: []memory.Domain{memory.GeneralChat},
		Statuses: []memory.Status{memory.Active},
	}); err != nil {
		t.Fatal(err)
	}
	if len(record.ran) != 1 {
		t.Fatalf("the list ran %v", record.ran)
	}
	for query, args := range record.ran {
		_, from, _ := strings.Cut(query, " FROM agent_memories ")
		var id, parent, unused int
		var step string
		if err := s.reader.QueryRowContext(t.Context(), `EXPLAIN QUERY PLAN SELECT id FROM agent_memories `+from,
			make([]any, args)...).Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		const want = "SEARCH agent_memories USING COVERING INDEX agent_memories_by_time (app_id=? AND user_id=?)"
		if step != want {
			t.Errorf("a list is found by %q, want %q", step, want)
		}
	}
}

// What is kept is counted without reading the memories.
func TestCounts_ReadTheIndexAlone(t *testing.T) {
	t.Parallel()
	s, record := openRecorded(t)
	if _, err := s.UserHoldings(t.Context(), memory.Owner{AppID: "app", UserID: "user"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Usage(t.Context(), "app", db.Usage{Users: 1, Memories: 1, Bytes: 1}); err != nil {
		t.Fatal(err)
	}
	counted := 0
	for query, args := range maps.Clone(record.ran) {
		if !strings.Contains(query, "agent_memories") {
			continue
		}
		counted++
		var id, parent, unused int
		var step string
		if err := s.reader.QueryRowContext(t.Context(), `EXPLAIN QUERY PLAN `+query, make([]any, args)...).
			Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(step, "USING COVERING INDEX agent_memories_by_time") {
			t.Errorf("%q is counted by %q", query, step)
		}
	}
	if counted != 4 {
		t.Errorf("%d statements count memories, want 4", counted)
	}
}

// An app's memories are counted without reading them, except for those whose vectors wait and those of words only.
func TestStats_ReadsIndexesAlone(t *testing.T) {
	t.Parallel()
	s, record := openRecorded(t)
	if _, err := s.Stats(t.Context(), "app"); err != nil {
		t.Fatal(err)
	}
	for _, of := range []memory.Owner{{AppID: "app"}, {AppID: "app", UserID: "user"}} {
		if _, err := s.ShelfLives(t.Context(), of, time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
	}
	counted := 0
	for query, args := range maps.Clone(record.ran) {
		type step struct {
			id, parent, unused int
			detail             string
		}
		steps, err := collect(t.Context(), s.reader, func(p *step) []any {
			return []any{&p.id, &p.parent, &p.unused, &p.detail}
		}, `EXPLAIN QUERY PLAN `+query, make([]any, args)...)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range steps {
			if !strings.Contains(p.detail, " agent_memories ") || strings.Contains(p.detail, "agent_memories_outbox") ||
				strings.Contains(p.detail, "agent_memories_words_only") {
				continue
			}
			counted++
			if !strings.Contains(p.detail, "USING COVERING INDEX") {
				t.Errorf("counted by %q", p.detail)
			}
		}
	}
	if counted != 5 {
		t.Errorf("%d steps count memories, want 5", counted)
	}
}
