package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"hippocampus/internal/memory"
)

// A backup is readable by its owner alone, an existing file is kept, and a backup that fails leaves no file.
func TestBackup_MakesOnePrivateFileOrNone(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s, err := Open(t.Context(), Options{Path: filepath.Join(folder, "test.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "backup.db")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Backup(ended, file); err == nil {
		t.Error("a backup whose context has ended succeeds")
	}
	if left, _ := filepath.Glob(file + "*"); len(left) > 0 {
		t.Errorf("the failed backup leaves %q", left)
	}
	if err := os.WriteFile(file+".part", []byte("an unfinished backup"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup: %v, %v", info, err)
	}
	if left, _ := filepath.Glob(file + "?*"); len(left) > 0 {
		t.Errorf("the backup leaves %q", left)
	}
	if err := s.Backup(t.Context(), file); !memory.IsKind(err, memory.KindConflict) {
		t.Errorf("a second backup to the same file: %v", err)
	}
	copied, err := Open(t.Context(), Options{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	if err := copied.Ping(t.Context()); err != nil {
		t.Errorf("the backup is not a database of this version: %v", err)
	}
}
