package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/db/sqlite"
	"hippocampus/internal/memory"
)

func TestOpen_NamesTheFileInErrors(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "no such folder", "test.db")
	_, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if !memory.IsKind(err, memory.KindUnavailable) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error of kind unavailable that names %s", err, path)
	}
	if _, err := sqlite.Open(t.Context(), sqlite.Options{}); !memory.IsKind(err, memory.KindInvalid) {
		t.Errorf("got %v, want an error of kind invalid", err)
	}
}

func TestPing_RequiresThisVersion(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	wantPing := func(want string) {
		t.Helper()
		err := s.Ping(t.Context())
		if !memory.IsKind(err, memory.KindUnavailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error of kind unavailable that says %q", err, want)
		}
	}
	wantPing("hippocampus migrate")
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	beside := raw(t, path)
	for _, step := range []struct{ sql, want string }{
		{`DELETE FROM river_migration WHERE version = (SELECT max(version) FROM river_migration)`, "older version"},
		{`INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)`, "newer version"},
	} {
		if _, err := beside.ExecContext(t.Context(), step.sql); err != nil {
			t.Fatal(err)
		}
		wantPing(step.want)
	}
}

func TestOpen_CreatesTheFileFromSeveralProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for round := range 100 {
		var group errgroup.Group
		for range 4 {
			group.Go(func() error {
				s, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, fmt.Sprint(round))})
				if err != nil {
					return err
				}
				return s.Close()
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMigrate_RunsFromSeveralProcesses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	var group errgroup.Group
	for range 4 {
		group.Go(func() error {
			s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
			if err != nil {
				return err
			}
			defer s.Close()
			return errors.Join(s.Migrate(t.Context()), s.Ping(t.Context()))
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

// Two stores on one file write rows and read each other's.
func TestStore_SharesTheFileBetweenProcesses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	stores := []*sqlite.Store{open(t, path), open(t, path)}
	owner := memory.Owner{AppID: "app", UserID: "user"}
	var group errgroup.Group
	for _, s := range stores {
		group.Go(func() error {
			for range 20 {
				err := s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
					return tx.Insert(ctx, []memory.Memory{{
						ID: memory.NewID(), Owner: owner, Content: "x", Type: memory.TypeFact, Domain: memory.GeneralChat,
						Status:    memory.Active,
						CreatedAt: time.UnixMicro(1), Revision: 1,
					}}, time.Time{})
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, s := range stores {
		found, err := s.Documents(t.Context(), owner)
		if err != nil || len(found) != 40 {
			t.Errorf("%d memories, want 40: %v", len(found), err)
		}
	}
}

// If another process keeps the lock, the error asks the caller to try again.
func TestStore_ReportsABusyFileAsUnavailable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path)
	beside := raw(t, path)
	if _, err := beside.ExecContext(t.Context(), `BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err := s.InUser(ctx, memory.Owner{AppID: "app", UserID: "user"}, func(context.Context, db.UserTx) error {
		t.Error("two writers at once")
		return nil
	})
	if !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("got %v, want an error of kind unavailable", err)
	}
	if _, err := s.Stats(t.Context(), "app"); err != nil {
		t.Errorf("reading waits for the writer: %v", err)
	}
}

// raw opens a connection independent of the store's.
func raw(t *testing.T, path string) *sql.Conn {
	t.Helper()
	file, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := file.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); file.Close() })
	return conn
}

// A table that is there before the first migration is not the program's own.
func TestMigrate_RefusesTablesOfUnsupportedVersions(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	old, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if _, err := old.ExecContext(t.Context(), `CREATE TABLE agent_memories (id TEXT, memory TEXT)`); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		err := s.Migrate(t.Context())
		if !memory.IsKind(err, memory.KindConflict) || !strings.Contains(err.Error(), "no supported version") {
			t.Errorf("got %v, want a refusal that names the reason", err)
		}
	}
}
