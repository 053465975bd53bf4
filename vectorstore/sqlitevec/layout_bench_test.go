package sqlitevec

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite"
	_ "modernc.org/sqlite/vec"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// The load of the benchmarks: many ordinary users whose writes interleave,
// then two large users.
const (
	benchDim   = 512
	benchUsers = 1000
	benchEach  = 100
	benchTop   = 50
)

var benchLarge = map[string]int{"1000": 1000, "10000": 10_000}

// layout is one way to store vectors in SQLite.
type layout interface {
	put(b *testing.B, records []vectorstore.Record)
	search(b *testing.B, q vectorstore.Query) int
}

// BenchmarkLayout compares the chosen layout, a plain table, with the cache in
// memory and with sqlite-vec's virtual table: the time of a search, and the size
// of the file (metric MB).
//
//	go test -run - -bench Layout -benchtime 30x ./vectorstore/sqlitevec
func BenchmarkLayout(b *testing.B) {
	layouts := map[string]func(b *testing.B, path string) layout{
		"plain": func(b *testing.B, path string) layout { return plain{openPlain(b, path)} },
		"cache": func(b *testing.B, path string) layout { return cached{openPlain(b, path)} },
	}
	for _, chunk := range []int{8, 64, 256} {
		layouts[fmt.Sprintf("vec0-chunk-%d", chunk)] = func(b *testing.B, path string) layout {
			return openVec0(b, path, chunk)
		}
	}
	for name, open := range layouts {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "vectors.db")
			l := open(b, path)
			r := rand.New(rand.NewPCG(1, 2))
			for range benchEach {
				var round []vectorstore.Record
				for u := range benchUsers {
					round = append(round, benchRecord(r, fmt.Sprint("user", u)))
				}
				l.put(b, round)
			}
			file, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			for user, n := range benchLarge {
				var all []vectorstore.Record
				for range n {
					all = append(all, benchRecord(r, user))
				}
				l.put(b, all)
			}
			for _, user := range []string{"user7", "1000", "10000"} {
				b.Run(user, func(b *testing.B) {
					search := func() {
						rec := benchRecord(r, user)
						q := vectorstore.Query{Owner: rec.Owner, Embedding: rec.Embedding, Limit: benchTop}
						if n := l.search(b, q); n != benchTop {
							b.Fatalf("found %d", n)
						}
					}
					search() // fills the cache
					for b.Loop() {
						search()
					}
					b.ReportMetric(float64(file.Size())/1e6, "MB")
				})
			}
		})
	}
}

func benchRecord(r *rand.Rand, user string) vectorstore.Record {
	v, square := make([]float32, benchDim), 0.0
	for i := range v {
		v[i] = float32(r.NormFloat64())
		square += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(square))
	}
	return vectorstore.Record{
		ID: memory.NewID(), Owner: memory.Owner{AppID: "app", UserID: user},
		Domain: memory.Lifestyle, Type: memory.TypeFact,
		Content: "The user plans to spend the long weekend hiking with two friends from work.", Embedding: v,
	}
}

func openPlain(b *testing.B, path string) stored {
	s, err := Open(b.Context(), Options{
		Path: path, Space: vectorstore.Space{Model: "bench", Dim: benchDim}, CacheBytes: plenty,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return stored{s}
}

type (
	stored struct{ *Store }
	plain  struct{ stored }
	cached struct{ stored }
)

func (s stored) put(b *testing.B, records []vectorstore.Record) {
	if err := s.Insert(b.Context(), records); err != nil {
		b.Fatal(err)
	}
}

func (p plain) search(b *testing.B, q vectorstore.Query) int {
	return count(b)(p.searchFile(b.Context(), q, nil))
}

func (c cached) search(b *testing.B, q vectorstore.Query) int {
	hits, err := c.Search(b.Context(), q)
	c.cache.reads.Wait()
	return count(b)(hits, err)
}

func count(b *testing.B) func(hits []vectorstore.Hit, err error) int {
	return func(hits []vectorstore.Hit, err error) int {
		if err != nil {
			b.Fatal(err)
		}
		return len(hits)
	}
}

// vec0 is a virtual table that stores each user's vectors in separate chunks.
type vec0 struct{ db *sql.DB }

func openVec0(b *testing.B, path string, chunk int) layout {
	db, err := sql.Open("sqlite", "file:"+path+"?_journal_mode=WAL&_pragma=synchronous(OFF)&_pragma=mmap_size(1073741824)")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	if _, err := db.Exec(fmt.Sprintf(`CREATE VIRTUAL TABLE records USING vec0(
		id TEXT PRIMARY KEY, app_id TEXT PARTITION KEY, user_id TEXT PARTITION KEY,
		embedding FLOAT[%d] distance_metric=cosine, agent_id TEXT, domain TEXT, memory_type TEXT,
		created_at INTEGER, +content TEXT, chunk_size=%d)`, benchDim, chunk)); err != nil {
		b.Fatal(err)
	}
	return vec0{db}
}

func (l vec0) put(b *testing.B, records []vectorstore.Record) {
	tx, err := l.db.Begin()
	if err != nil {
		b.Fatal(err)
	}
	defer tx.Rollback()
	for _, r := range records {
		if _, err := tx.Exec(`INSERT INTO records
			(id, app_id, user_id, agent_id, domain, memory_type, created_at, embedding, content)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, r.ID, r.AppID, r.UserID, r.AgentID, string(r.Domain), string(r.Type),
			0, floats(r.Embedding), r.Content); err != nil {
			b.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
}

func (l vec0) search(b *testing.B, q vectorstore.Query) int {
	rows, err := l.db.Query(
		`SELECT id, distance FROM records WHERE embedding MATCH ? AND app_id = ? AND user_id = ? AND k = ?`,
		floats(q.Embedding), q.Owner.AppID, q.Owner.UserID, q.Limit)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var id string
		var distance float64
		if err := rows.Scan(&id, &distance); err != nil {
			b.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return n
}

func floats(v []float32) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}
