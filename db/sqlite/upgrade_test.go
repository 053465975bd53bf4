package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/riverqueue/river/rivermigrate"

	"hippocampus/db/dbtest"
	"hippocampus/internal/memory"
)

// The database holds candidates of the first schema.
func TestMigrate_KeepsCandidates(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "test.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	migrations, err := s.migrations()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrations.Tables.UpTo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if _, err := migrations.Jobs.Migrate(t.Context(), rivermigrate.DirectionUp, nil); err != nil {
		t.Fatal(err)
	}
	dbtest.Upgrade(t, s, func(id string, turn memory.Turn, at time.Time) error {
		_, err := s.writer.ExecContext(t.Context(), `INSERT INTO turns
			(id, app_id, user_id, agent_id, conversation_id, messages, said_at, hash, status, attempts, last_error, accepted_at,
			queued_at, due_at)
			VALUES (?1, ?2, ?3, '', '', '[]', ?4, '', 'accepted', 0, '', ?4, ?4, ?4)`,
			turn.ID, turn.AppID, turn.UserID, moment(at))
		if err != nil {
			return err
		}
		_, err = s.writer.ExecContext(t.Context(), `INSERT INTO candidates
			(id, app_id, turn_id, content, importance, domain, type, verdict, reason, scorer, created_at)
			VALUES (?, ?, ?, 'likes tea', 0.5, 'general_chat', 'fact', 'below_threshold', '', 'rules', ?)`,
			id, turn.AppID, turn.ID, moment(at))
		return err
	})
}

// The database holds keys from before there were operators.
func TestMigrate_MakesTheFirstKeyAnOperators(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "test.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	migrations, err := s.migrations()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrations.Tables.UpTo(t.Context(), 26); err != nil {
		t.Fatal(err)
	}
	dbtest.UpgradeKeys(t, s, func(k memory.Key) error {
		_, err := s.writer.ExecContext(t.Context(), `INSERT INTO api_keys (id, hash, name, app_id, role, created_at)
			VALUES ($1, $2, $3, $4, $5, $6)`, k.ID, k.Hash, k.Name, k.AppID, k.Role, moment(k.CreatedAt))
		return err
	})
}

// The database holds turns from before there were conversations.
func TestMigrate_NumbersEvents(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "test.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	migrations, err := s.migrations()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrations.Tables.UpTo(t.Context(), 6); err != nil {
		t.Fatal(err)
	}
	dbtest.UpgradeConversations(t, s, func(turn memory.Turn, messages string) error {
		_, err := s.writer.ExecContext(t.Context(), `INSERT INTO turns
			(id, app_id, user_id, agent_id, conversation_id, messages, said_at, hash, status, attempts, last_error, accepted_at,
			queued_at, due_at)
			VALUES (?1, ?2, ?3, '', ?4, ?5, ?6, '', 'accepted', 0, '', ?7, ?7, ?7)`,
			turn.ID, turn.AppID, turn.UserID, turn.ConversationID, messages, moment(turn.At), moment(turn.AcceptedAt))
		return err
	})
}

// The database holds turns and memories from before active days were noted.
func TestMigrate_FindsActiveDays(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "test.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	dbtest.UpgradeActiveDays(t, s, func() error {
		migrations, err := s.migrations()
		if err != nil {
			return err
		}
		if _, err := migrations.Tables.DownTo(t.Context(), 44); err != nil {
			return err
		}
		return s.Migrate(t.Context())
	})
}

// The database holds lexemes from before letters were folded.
func TestMigrate_RecomputesLexemes(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "test.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	dbtest.UpgradeLexemes(t, s, func(lexemes string) error {
		migrations, err := s.migrations()
		if err != nil {
			return err
		}
		if _, err := migrations.Tables.DownTo(t.Context(), 48); err != nil {
			return err
		}
		if _, err := s.writer.ExecContext(t.Context(), `UPDATE agent_memories SET lexemes = ?`, lexemes); err != nil {
			return err
		}
		_, err = s.writer.ExecContext(t.Context(), `DELETE FROM goose_db_version WHERE version_id >= 48`)
		return err
	})
}
