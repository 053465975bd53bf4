package postgres

import (
	"context"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hippocampus/db/dbtest"
	"hippocampus/db/postgres/postgrestest"
)

// statement is a statement that the store ran.
type statement struct {
	sql  string
	args []any
}

// recorder is a pgx tracer that keeps the statements.
type recorder struct {
	mu  sync.Mutex
	ran map[string]statement
}

func (r *recorder) keep(sql string, args []any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ran[sql] = statement{sql, args}
}

func (r *recorder) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	r.keep(data.SQL, data.Args)
	return ctx
}
func (r *recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (r *recorder) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}
func (r *recorder) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	r.keep(data.SQL, data.Args)
}
func (r *recorder) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// recording opens a store and keeps the statements that it runs.
func recording(t *testing.T, url string) (*recorder, *Store) {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	record := &recorder{ran: map[string]statement{}}
	config.ConnConfig.Tracer = record
	s := &Store{log: slog.New(slog.DiscardHandler)}
	t.Cleanup(func() { s.Close() })
	if err := s.connect(t.Context(), config); err != nil { // without limits, which are a tracer also
		t.Fatal(err)
	}
	s.timeout = time.Minute
	return record, s
}

func explain(t *testing.T, s *Store, of statement) string {
	t.Helper()
	rows, err := s.pool.Query(t.Context(), `EXPLAIN `+of.sql, of.args...)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%v\n%s", err, of.sql)
	}
	return strings.Join(lines, "\n")
}

// bigTables are the tables that no query may scan.
const bigTables = `(` +
	`agent_memories|turns|conversations|consolidation_jobs|candidates|memory_events|memory_relations|announcements|` +
	`user_states|api_keys|facts|instructions|instruction_versions|skills|skill_outcomes|memory_files|` +
	`memory_file_versions|recalls|indexes|active_days|user_zones|user_modes|message_ids|` +
	`refused_fields|token_days|policies|profile_schemas|filled_profiles|documents|proposed_insights|` +
	`participants|episodes|episode_memories|episode_states|feedback|threshold_steps|pooled|river_job)`

var (
	bigTable = regexp.MustCompile(`\b` + bigTables + `\b`)
	seqScan  = regexp.MustCompile(`Seq Scan on ` + bigTables + `\b`)
)

// The test runs every query against some thousand rows and explains its plan.
func TestPlans_UseIndexes(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	filled, err := Open(t.Context(), Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { filled.Close() })
	if err := filled.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	dbtest.Load(t, filled, 60)
	for _, sql := range []string{
		`INSERT INTO user_states SELECT 'app', 'user' || i FROM generate_series(1, 5000) AS i`,
		`INSERT INTO indexes SELECT 'app', 'other' || i, 1, '' FROM generate_series(1, 5000) AS i`,
		`INSERT INTO active_days SELECT 'app', 'other' || i, '', i FROM generate_series(1, 5000) AS i`,
		`INSERT INTO user_zones SELECT 'app', 'other' || i, '', '+08:00' FROM generate_series(1, 5000) AS i`,
		`INSERT INTO user_modes SELECT 'app', 'other' || i, 'c' || i % 3, 'off' FROM generate_series(1, 5000) AS i`,
		`INSERT INTO message_ids SELECT 'app', 'other' || i % 50, 'c', 'm' || i, gen_random_uuid()
		FROM generate_series(1, 5000) AS i`,
		`INSERT INTO token_days SELECT 'app' || i % 500, i / 500, 'chat', i FROM generate_series(1, 5000) AS i`,
		`INSERT INTO policies SELECT 'app' || i % 500, i, '{}', '', now(), '' FROM generate_series(1, 5000) AS i`,
		`INSERT INTO profile_schemas SELECT 'app' || i, 1, '{}', now(), '' FROM generate_series(1, 5000) AS i`,
		`INSERT INTO filled_profiles SELECT 'app' || i % 500, 'other' || i, '', 'x', '[]', now()
		FROM generate_series(1, 5000) AS i`,
		`INSERT INTO proposed_insights SELECT 'app', 'other' || i % 500, gen_random_uuid(), '', '', '', 0.9,
		ARRAY[gen_random_uuid()], ARRAY[]::uuid[], now() FROM generate_series(1, 5000) AS i`,
		`INSERT INTO episodes SELECT 'app', 'other' || i % 500, gen_random_uuid(), '', gen_random_uuid(), now(), now(), '',
		'{}' FROM generate_series(1, 5000) AS i`,
		`INSERT INTO episode_memories SELECT app_id, user_id, gen_random_uuid(), id FROM episodes`,
		`INSERT INTO episode_states SELECT 'app', 'other' || i, 1 FROM generate_series(1, 5000) AS i`,
		`INSERT INTO participants SELECT 'app', 'other' || i % 50, 'c' || i, 'n' FROM generate_series(1, 5000) AS i`,
		`INSERT INTO feedback SELECT 'app' || i % 50, 'other' || i % 500, gen_random_uuid(), gen_random_uuid(), 'used', 0.5,
		now() FROM generate_series(1, 5000) AS i`,
		`INSERT INTO pooled SELECT gen_random_uuid(), 'app' || i % 50, 'other' || i % 500, '', gen_random_uuid(), now(), ''
		FROM generate_series(1, 5000) AS i`,
		`INSERT INTO threshold_steps SELECT 'app' || i % 500, 'gate', i, 0.7, 0.68, false, 5, 0, now()
		FROM generate_series(1, 5000) AS i`,
		`INSERT INTO refused_fields SELECT 'https://' || i, 'm', 'temperature' FROM generate_series(1, 5000) AS i`,
		`INSERT INTO api_keys (id, hash, name, app_id, role, created_at)
		SELECT gen_random_uuid(), i, '', 'app' || i % 500, 'read', now() FROM generate_series(1, 5000) AS i`,
		`INSERT INTO river_job (kind, max_attempts, args) SELECT 'many', 3, jsonb_build_object('turn_id', i)
		FROM generate_series(1, 10000) AS i`,
		`VACUUM ANALYZE agent_memories, turns, conversations, consolidation_jobs, candidates, memory_events,
		memory_relations, announcements, user_states, api_keys, facts, instructions, instruction_versions, skills,
		skill_outcomes, memory_files, memory_file_versions, recalls, indexes, active_days, user_zones,
		user_modes, message_ids, refused_fields, token_days, policies, profile_schemas, filled_profiles,
		documents, proposed_insights, participants, episodes, episode_memories, episode_states, feedback,
		threshold_steps, pooled, river_job`,
	} {
		if _, err := filled.pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}

	record, recorded := recording(t, url)
	dbtest.Exercise(t, recorded)

	explained := 0
	for _, s := range record.ran {
		if !bigTable.MatchString(s.sql) || strings.Contains(s.sql, "river_migration") || strings.HasPrefix(s.sql, "copy ") {
			continue
		}
		plan := explain(t, filled, s)
		if seqScan.MatchString(plan) {
			t.Errorf("no index serves\n%s\n\n%s", s.sql, plan)
		}
		counts := strings.Contains(s.sql, "WITH held AS")
		if counts && !strings.Contains(plan, "Index Only Scan using agent_memories_kinds") {
			t.Errorf("statistics read memories:\n%s", plan)
		}
		explained++
	}
	if explained < 60 {
		t.Errorf("only %d statements were explained: were the others not recorded?", explained)
	}
}
