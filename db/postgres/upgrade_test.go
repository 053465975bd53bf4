package postgres

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/riverqueue/river/rivermigrate"

	"hippocampus/db/dbtest"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// upTo returns a store whose tables have an earlier version.
func upTo(t *testing.T, version int64) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{URL: postgrestest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	migrations, done, err := s.migrations(s.pool)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if _, err := migrations.Tables.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	return s
}

// The database holds candidates of the first schema.
func TestMigrate_KeepsCandidates(t *testing.T) {
	t.Parallel()
	s := upTo(t, 1)
	migrations, done, err := s.migrations(s.pool)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if _, err := migrations.Jobs.Migrate(t.Context(), rivermigrate.DirectionUp, nil); err != nil {
		t.Fatal(err)
	}
	dbtest.Upgrade(t, s, func(id string, turn memory.Turn, at time.Time) error {
		_, err := s.pool.Exec(t.Context(), `INSERT INTO turns
			(id, app_id, user_id, agent_id, conversation_id, messages, said_at, hash, status, attempts, last_error, accepted_at,
			queued_at, due_at)
			VALUES ($1, $2, $3, '', '', '[]', $4, '', 'accepted', 0, '', $4, $4, $4)`, turn.ID, turn.AppID, turn.UserID, at)
		if err != nil {
			return err
		}
		_, err = s.pool.Exec(t.Context(), `INSERT INTO candidates
			(id, app_id, turn_id, content, importance, domain, type, verdict, reason, scorer, created_at)
			VALUES ($1, $2, $3, 'likes tea', 0.5, 'general_chat', 'fact', 'below_threshold', '', 'rules', $4)`,
			id, turn.AppID, turn.ID, at)
		return err
	})
}

// The database holds keys from before there were operators.
func TestMigrate_MakesTheFirstKeyAnOperators(t *testing.T) {
	t.Parallel()
	s := upTo(t, 26)
	dbtest.UpgradeKeys(t, s, func(k memory.Key) error {
		_, err := s.pool.Exec(t.Context(), `INSERT INTO api_keys (id, hash, name, app_id, role, created_at)
			VALUES ($1, $2, $3, $4, $5, $6)`, k.ID, k.Hash, k.Name, k.AppID, k.Role, k.CreatedAt)
		return err
	})
}

// The database holds turns from before there were conversations.
func TestMigrate_NumbersEvents(t *testing.T) {
	t.Parallel()
	s := upTo(t, 6)
	dbtest.UpgradeConversations(t, s, func(turn memory.Turn, messages string) error {
		_, err := s.pool.Exec(t.Context(), `INSERT INTO turns
			(id, app_id, user_id, agent_id, conversation_id, messages, said_at, hash, status, attempts, last_error, accepted_at,
			queued_at, due_at)
			VALUES ($1, $2, $3, '', $4, $5, $6, '', 'accepted', 0, '', $7, $7, $7)`,
			turn.ID, turn.AppID, turn.UserID, turn.ConversationID, messages, turn.At, turn.AcceptedAt)
		return err
	})
}

// The database holds embeddings in the rows of their memories.
func TestMigrate_MovesEmbeddings(t *testing.T) {
	t.Parallel()
	s := upTo(t, 12)
	alice := memory.Owner{AppID: "app", UserID: "alice"}
	embedded := map[string][]float32{memory.NewID(): {0.6, 0.8}, memory.NewID(): nil, memory.NewID(): {1, 0}}
	for id, embedding := range embedded {
		_, err := s.pool.Exec(t.Context(), `INSERT INTO agent_memories
			(id, app_id, user_id, agent_id, conversation_id, content, content_hash, memory_type, domain, tags, importance_score,
			pinned, status,
			created_at, updated_at, last_accessed_at, access_count, lexemes, revision,
			vector_state, vector_attempts, vector_since, vector_due, vector_claims, embedding_model, embedding)
			SELECT $1, $2, $3, '', '', 'likes tea', sha256('likes tea'), 'fact', 'general_chat', '{}', 0.5, false, 'active',
			now(), now(), now(), 0, 'likes tea', 1, 'pending', 0, now(), now(), 0,
			CASE WHEN $4::bytea IS NULL THEN '' ELSE 'm' END, $4`,
			id, alice.AppID, alice.UserID, rowcodec.VectorBytes(embedding))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := map[string][]float32{}
	err := s.EachEmbedding(t.Context(), alice, "m", 10,
		func(id string, embedding []float32) { got[id] = slices.Clone(embedding) })
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(embedded, func(_ string, embedding []float32) bool { return embedding == nil })
	if diff := cmp.Diff(embedded, got); diff != "" {
		t.Errorf("the embeddings after the upgrade (-want +got):\n%s", diff)
	}
}

// The database holds turns and memories from before active days were noted.
func TestMigrate_FindsActiveDays(t *testing.T) {
	t.Parallel()
	s := upTo(t, 1)
	dbtest.UpgradeActiveDays(t, s, func() error {
		migrations, done, err := s.migrations(s.pool)
		if err != nil {
			return err
		}
		defer done()
		if _, err := migrations.Tables.DownTo(t.Context(), 44); err != nil {
			return err
		}
		return s.Migrate(t.Context())
	})
}

// The database holds lexemes from before letters were folded.
func TestMigrate_RecomputesLexemes(t *testing.T) {
	t.Parallel()
	s := upTo(t, 48)
	dbtest.UpgradeLexemes(t, s, func(lexemes string) error {
		migrations, done, err := s.migrations(s.pool)
		if err != nil {
			return err
		}
		defer done()
		if _, err := migrations.Tables.DownTo(t.Context(), 48); err != nil {
			return err
		}
		if _, err := s.pool.Exec(t.Context(), `UPDATE agent_memories SET lexemes = $1`, lexemes); err != nil {
			return err
		}
		_, err = s.pool.Exec(t.Context(), `DELETE FROM goose_db_version WHERE version_id >= 48`)
		return err
	})
}
