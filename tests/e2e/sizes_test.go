// Package e2e drives the built binary over HTTP:
//
//	test -> HTTP -> binary -> real stores;  binary -> scripted LLM endpoint
//
// Scenarios run on SQLite with nothing installed, on a real Postgres with pgvector, and on a real Postgres with a real
// Milvus: by default on as many of them as their functions say, with scripts/test --long on all.
package e2e

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/bilingual"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/milvus"
	"hippocampus/vectorstore/milvus/milvustest"
	"hippocampus/vectorstore/pgvector"
	"hippocampus/vectorstore/sqlitevec"
)

// size is one of the sizes of an installation.
type size struct {
	name string
	// settings returns the settings of fresh stores.
	settings func(t *testing.T) []string
}

var sizes = []size{
	{"sqlite", func(*testing.T) []string { return nil }},
	{"postgres+milvus", func(t *testing.T) []string { return large(t, milvustest.Addr(t)) }},
	{"pgvector", func(t *testing.T) []string {
		return []string{"DATABASE_URL=" + postgrestest.PgvectorURL(t)}
	}},
}

// large returns the settings of a fresh schema and collection, with Milvus at addr.
func large(t *testing.T, addr string) []string {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return []string{
		"DATABASE_URL=" + postgrestest.URL(t), "MILVUS_HOST=" + host, "MILVUS_PORT=" + port,
		"MILVUS_MEMORY_COLLECTION=" + milvustest.Collection(t), "HIPPOCAMPUS_MILVUS_PARTITIONS=4",
	}
}

// onEachSize runs a scenario on each size, in parallel.
func onEachSize(t *testing.T, scenario func(t *testing.T, size size)) { on(t, sizes, scenario) }

// onTwoSizes runs a scenario whose queries the stores answer on SQLite, and one of three such scenarios on another size
// too. The conformance suites hold what the stores have in common.
func onTwoSizes(t *testing.T, scenario func(t *testing.T, size size)) {
	some := sizes[:1:1]
	if n := numberOf(t) % 6; n < 2 {
		some = append(some, sizes[1+n])
	}
	on(t, some, scenario)
}

// onMainSizes runs a scenario that depends on how a vector store follows the database, but hardly on which one it is,
// on SQLite and on Postgres with Milvus. The conformance suite holds what the stores have in common.
func onMainSizes(t *testing.T, scenario func(t *testing.T, size size)) { on(t, sizes[:2], scenario) }

// onOneDatabase runs a scenario that is above the vector store, or that depends on several replicas, on SQLite, and one
// of four such scenarios on Postgres with pgvector instead. The conformance suite holds what the databases have in
// common.
func onOneDatabase(t *testing.T, scenario func(t *testing.T, size size)) {
	chosen := sizes[0]
	if numberOf(t)%4 == 0 {
		chosen = sizes[2]
	}
	on(t, []size{chosen}, scenario)
}

// numberOf is a number of a test that does not change with other tests.
func numberOf(t *testing.T) uint32 {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(t.Name()))
	return hash.Sum32() >> 8 // the last bits of similar names are similar
}

// onOneSize runs a scenario that is above the stores on SQLite.
func onOneSize(t *testing.T, scenario func(t *testing.T, size size)) { on(t, sizes[:1], scenario) }

// on runs a scenario on some sizes, and with scripts/test --long on all.
func on(t *testing.T, some []size, scenario func(t *testing.T, size size)) {
	t.Parallel()
	if long {
		some = sizes
	}
	for _, size := range some {
		t.Run(size.name, func(t *testing.T) {
			t.Parallel()
			scenario(t, size)
		})
	}
}

// builtin is the embedding space of the built-in embedder.
var builtin = vectorstore.Space{Model: bilingual.Model, Dim: bilingual.Dim}

// records reads all records of a server's vector store, in id order. It reads again if the store is unavailable, and
// returns no records if the collection was dropped since it was opened, when another model took over.
func (s *server) records(space vectorstore.Space) (all []vectorstore.Record) {
	s.t.Helper()
	eventually(s.t, "reading the vector store", func() string {
		var err error
		all, err = s.readRecords(space)
		switch {
		case errors.Is(err, vectorstore.ErrGone):
			all = nil
		case memory.IsKind(err, memory.KindUnavailable):
			return err.Error()
		case err != nil:
			s.t.Fatal(err)
		}
		return ""
	})
	return all
}

func (s *server) readRecords(space vectorstore.Space) ([]vectorstore.Record, error) {
	ctx := context.Background()
	store, err := s.openVectors(ctx, space)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	var all []vectorstore.Record
	const page = 1000
	for after := ""; ; after = all[len(all)-1].ID {
		before := len(all)
		err := store.Scan(ctx, after, page, func(r vectorstore.Record) error {
			all = append(all, r)
			return nil
		})
		if err != nil || len(all)-before < page {
			return all, err
		}
	}
}

func (s *server) openVectors(ctx context.Context, space vectorstore.Space) (vectorstore.Store, error) {
	if collection := s.setting("MILVUS_MEMORY_COLLECTION"); collection != "" {
		// This client connects directly, not through the server's proxy.
		return milvus.Open(ctx, milvus.Options{
			Addr:       milvustest.Addr(s.t),
			Collection: collection,
			Space:      space,
			Partitions: 4,
			Timeout:    time.Minute,
		})
	}
	if url := s.setting("DATABASE_URL"); url != "" {
		return pgvector.Open(ctx, pgvector.Options{URL: url, Space: space, Timeout: time.Minute, Plain: true})
	}
	return sqlitevec.Open(ctx,
		sqlitevec.Options{Path: filepath.Join(s.dir, "data", sqlitevec.FileName(space)), Space: space})
}

// setting returns the server's value of a setting, or "".
func (s *server) setting(name string) string {
	for _, pair := range slices.Backward(s.env) {
		if key, value, ok := strings.Cut(pair, "="); ok && key == name {
			return value
		}
	}
	return ""
}

// active returns the ids of a user's active memories other than messages, sorted.
func (s *server) active(user string) []string {
	s.t.Helper()
	return s.activeIDs(user, func(m object) bool { return m["type"] != "message" })
}

// everything returns the contents of a user's active memories, messages included.
func (s *server) everything(user string) []string {
	s.t.Helper()
	return contents(s.call("GET", "/v1/memories?limit=500&user_id="+user, nil, 200).list("memories"))
}

// activeIDs returns the sorted ids of a user's active memories for which wanted is true.
func (s *server) activeIDs(user string, wanted func(m object) bool) []string {
	s.t.Helper()
	var ids []string
	for cursor := ""; ; {
		r := s.call("GET", "/v1/memories?limit=500&user_id="+user+cursor, nil, 200)
		for _, m := range r.list("memories") {
			if wanted(m) {
				ids = append(ids, m["id"].(string))
			}
		}
		next, _ := r.body["next_cursor"].(string)
		if next == "" {
			slices.Sort(ids)
			return ids
		}
		cursor = "&cursor=" + next
	}
}

// storesEqual waits until the vector store holds exactly the users' active memories.
func (s *server) storesEqual(space vectorstore.Space, users ...string) {
	s.t.Helper()
	eventually(s.t, "the stores being equal by ids", func() string { return s.storesDiffer(space, users...) })
}

// storesDiffer describes how the ids of active memories differ between the stores, or returns "".
func (s *server) storesDiffer(space vectorstore.Space, users ...string) string {
	s.t.Helper()
	var want, got []string
	for _, user := range users {
		want = append(want, s.activeIDs(user, func(object) bool { return true })...)
	}
	slices.Sort(want)
	for _, r := range s.records(space) {
		got = append(got, r.ID)
	}
	if slices.Equal(want, got) {
		return ""
	}
	isIn := func(list []string) func(string) bool {
		return func(id string) bool { return slices.Contains(list, id) }
	}
	return fmt.Sprintf("the database has %d, the vector store %d; only there: %v and %v", len(want), len(got),
		slices.DeleteFunc(slices.Clone(want), isIn(got)), slices.DeleteFunc(slices.Clone(got), isIn(want)))
}
