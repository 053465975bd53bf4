package sqlitefile

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "modernc.org/sqlite"
)

// file is a database whose rows belong to owners.
type file struct {
	t    *testing.T
	path string
	*sql.DB
	random *rand.Rand
	ids    map[string][]string // by owner
}

func newFile(t *testing.T, seed uint64) *file {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=secure_delete(1)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	f := &file{t: t, path: path, DB: db, random: rand.New(rand.NewPCG(seed, 1)), ids: map[string][]string{}}
	f.exec(`CREATE TABLE items (id TEXT PRIMARY KEY, owner TEXT NOT NULL, content TEXT NOT NULL)`)
	f.exec(`CREATE INDEX by_owner ON items (owner, content)`)
	return f
}

func (f *file) exec(statement string, args ...any) {
	f.t.Helper()
	if _, err := f.Exec(statement, args...); err != nil {
		f.t.Fatal(statement, err)
	}
}

func (f *file) write(ctx context.Context, change func(*sql.Tx) error) error {
	tx, err := f.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := change(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// text returns a content of the owner's, which sometimes overflows its page.
func (f *file) text(owner string) string {
	n := 1 + f.random.IntN(60)
	if f.random.IntN(50) == 0 {
		n *= 50
	}
	return strings.Repeat(owner+" ", n)
}

// change writes, lengthens, shortens and deletes rows of the owners at random.
func (f *file) change(owners []string, times int) {
	f.t.Helper()
	f.exec(`BEGIN IMMEDIATE`)
	for range times {
		owner := owners[f.random.IntN(len(owners))]
		known := f.ids[owner]
		if len(known) == 0 || f.random.IntN(2) == 0 {
			id := fmt.Sprintf("%s-%016x", owner, f.random.Uint64())
			f.exec(`INSERT INTO items VALUES (?, ?, ?)`, id, owner, f.text(owner))
			f.ids[owner] = append(known, id)
			continue
		}
		at := f.random.IntN(len(known))
		if f.random.IntN(3) > 0 {
			f.exec(`UPDATE items SET content = ? WHERE id = ?`, f.text(owner), known[at])
			continue
		}
		f.exec(`DELETE FROM items WHERE id = ?`, known[at])
		f.ids[owner] = append(known[:at:at], known[at+1:]...)
	}
	f.exec(`COMMIT`)
}

// traces counts the places of the file that name the owner.
func (f *file) traces(owner string) int {
	f.t.Helper()
	if err := Truncate(f.t.Context(), f.DB); err != nil {
		f.t.Fatal(err)
	}
	data, err := os.ReadFile(f.path)
	if err != nil {
		f.t.Fatal(err)
	}
	return bytes.Count(data, []byte(owner))
}

func (f *file) rows(owner string) (n int) {
	f.t.Helper()
	var verdict string
	if err := f.QueryRow(`PRAGMA integrity_check`).Scan(&verdict); err != nil || verdict != "ok" {
		f.t.Errorf("SQLite finds %s in the file, %v", verdict, err)
	}
	if err := f.QueryRow(`SELECT count(*) FROM items WHERE owner = ?`, owner).Scan(&n); err != nil {
		f.t.Fatal(err)
	}
	return n
}

// After random writes, deletions and erasures, no text and no id of an erased owner is in
// the file, the rows of the others are unchanged, and SQLite finds no fault.
func TestCleaner_LeavesNoTrace(t *testing.T) {
	t.Parallel()
	before := 0
	for seed := range uint64(4) {
		f := newFile(t, seed)
		owners := []string{"zelda", "quentin", "yvonne", "bob"}
		cleaner := NewCleaner(f.DB, f.write)
		for len(owners) > 1 {
			f.change(owners, 800)
			erased := owners[0]
			owners = owners[1:]
			f.exec(`DELETE FROM items WHERE owner = ?`, erased)
			before += f.traces(erased)
			if err := cleaner.Clean(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := f.traces(erased); n > 0 {
				t.Errorf("seed %d: %d traces of %s are left", seed, n, erased)
			}
			for _, owner := range owners {
				if got, want := f.rows(owner), len(f.ids[owner]); got != want {
					t.Errorf("seed %d: %s has %d rows, want %d", seed, owner, got, want)
				}
			}
		}
	}
	if before == 0 {
		t.Error("there was no trace before: the test cannot fail")
	}
}

func TestCleaner_CleansOneTable(t *testing.T) {
	t.Parallel()
	f := newFile(t, 1)
	for f.traces("zelda") == 0 {
		f.change([]string{"zelda", "bob"}, 500)
		f.exec(`DELETE FROM items WHERE owner = 'zelda'`)
		delete(f.ids, "zelda")
	}
	if err := NewCleaner(f.DB, f.write).CleanTable(t.Context(), "items"); err != nil {
		t.Fatal(err)
	}
	if n, rows := f.traces("zelda"), f.rows("bob"); n > 0 || rows != len(f.ids["bob"]) {
		t.Errorf("%d traces are left, another owner has %d rows, want %d", n, rows, len(f.ids["bob"]))
	}
}

// Callers that wait for a search share the next one.
func TestCleaner_SharesSearches(t *testing.T) {
	t.Parallel()
	f := newFile(t, 1)
	f.change([]string{"bob"}, 10)
	cleaner := NewCleaner(f.DB, f.write)
	cleaner.turn <- struct{}{} // a search is under way
	var waiting sync.WaitGroup
	for range 8 {
		waiting.Go(func() {
			if err := cleaner.Clean(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	for cleaner.asked.Load() < 8 {
	}
	<-cleaner.turn
	waiting.Wait()
	if cleaner.done != 8 {
		t.Errorf("the latest search served the callers up to %d, want 8", cleaner.done)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cleaner.turn <- struct{}{}
	if err := cleaner.Clean(ctx); err == nil {
		t.Error("a search that another one holds up did not end with its context")
	}
}
