package sqlite_test

import (
	"errors"
	"path/filepath"
	"strconv"
	"testing"

	"hippocampus/db/sqlite"
)

// BenchmarkMigrate_NewFile makes a database file with the schema of this version, as the first start of a server does.
func BenchmarkMigrate_NewFile(b *testing.B) {
	dir := b.TempDir()
	for n := 0; b.Loop(); n++ {
		s, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(dir, strconv.Itoa(n))})
		if err != nil {
			b.Fatal(err)
		}
		if err := errors.Join(s.Migrate(b.Context()), s.Close()); err != nil {
			b.Fatal(err)
		}
	}
}
