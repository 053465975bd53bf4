package postgres

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/db/dbtest"
	"hippocampus/db/postgres/partition"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
)

func TestPartition_Conformance(t *testing.T) {
	t.Parallel()
	pool := postgrestest.NewPool(t, func(url string) {
		must(t, migrated(t, url).Partition(t.Context(), partition.Options{Partitions: 2}))
	})
	dbtest.RunSample(t, func(t *testing.T) db.Store { return migrated(t, pool.URL(t)) })
}

// migrated opens and migrates a store that is closed when the test ends.
func migrated(t *testing.T, url string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{URL: url, MaxConns: 6})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	must(t, s.Migrate(t.Context()))
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// client writes and recalls memories of one owner, and knows what has been acknowledged.
type client struct {
	store   *Store
	owner   memory.Owner
	written map[string]string // contents by id
	turns   []memory.Turn
}

// write stores a memory and a turn, and changes an earlier memory.
func (u *client) write(ctx context.Context, n int) error {
	now := time.Now()
	content := fmt.Sprint("statement ", n)
	m := memory.Memory{
		ID: memory.NewID(), Owner: u.owner, Content: content, Type: memory.TypeFact, Domain: memory.GeneralChat,
		Status: memory.Active, CreatedAt: now, UpdatedAt: now, LastAccessedAt: now, Revision: 1,
		Embedding: []float32{0.6, 0.8}, EmbeddingModel: "model", Lexemes: content,
	}
	changed, changes := memory.Memory{}, false
	for id := range u.written {
		changed, changes = m, true
		changed.ID, changed.Content, changed.Revision = id, content+" instead", int64(n+2)
		break
	}
	err := u.store.InUser(ctx, u.owner, func(ctx context.Context, tx db.UserTx) error {
		if err := tx.Insert(ctx, []memory.Memory{m}, now.Add(time.Hour)); err != nil {
			return err
		}
		if changes {
			if err := tx.Update(ctx, changed); err != nil {
				return err
			}
		}
		event := memory.Event{ID: memory.NewID(), MemoryID: m.ID, Kind: memory.EventCreated, Cause: "test", At: now}
		return tx.AddEvents(ctx, []memory.Event{event})
	})
	if err != nil {
		return err
	}
	u.written[m.ID] = m.Content
	if changes {
		u.written[changed.ID] = changed.Content
	}
	turn := memory.Turn{
		ID: memory.NewID(), Owner: u.owner, ClientID: fmt.Sprint(u.owner.UserID, " ", n), Hash: "hash",
		Messages: []memory.Message{{Role: "user", Content: content}}, Status: memory.TurnAccepted,
		At: now, AcceptedAt: now, QueuedAt: now,
	}
	if _, _, err = u.store.AcceptTurn(ctx, turn, now.Add(time.Hour), nil); err != nil {
		return err
	}
	u.turns = append(u.turns, turn)
	return u.store.Touch(ctx, []db.Touch{{Owner: u.owner, ID: m.ID, Count: 1, At: now}})
}

// recall reads what a recall reads.
func (u *client) recall(ctx context.Context) error {
	found, err := u.store.Changes(ctx, u.owner, 0, time.Now(), 100)
	if err != nil {
		return err
	}
	embeddings := 0
	err = u.store.EachEmbedding(ctx, u.owner, "model", 10_000, func(string, []float32) { embeddings++ })
	if err != nil {
		return err
	}
	var ids []string
	for _, d := range found.Documents {
		ids = append(ids, d.ID)
	}
	read, err := u.store.Recalled(ctx, u.owner, ids, nil)
	if err == nil && (len(read.Whole) < len(ids) || embeddings < len(ids)) {
		err = fmt.Errorf("of %d documents, %d memories and %d embeddings are read", len(ids), len(read.Whole), embeddings)
	}
	return err
}

// check compares the tables with what was acknowledged.
func (u *client) check(t *testing.T) {
	t.Helper()
	found, err := u.store.Documents(t.Context(), u.owner)
	must(t, err)
	contents := map[string]string{}
	for _, d := range found {
		contents[d.ID] = d.Content
		history, err := u.store.History(t.Context(), u.owner.AppID, d.ID)
		must(t, err)
		if len(history) != 1 {
			t.Errorf("memory %s has %d events", d.ID, len(history))
		}
	}
	if len(found) != len(contents) || !maps.Equal(contents, u.written) {
		t.Errorf("%s has %d documents, want %d with the contents that were acknowledged",
			u.owner.UserID, len(found), len(u.written))
	}
	for _, turn := range u.turns {
		again := turn
		again.ID = memory.NewID()
		stored, fresh, err := u.store.AcceptTurn(t.Context(), again, time.Now(), nil)
		if err != nil || fresh || stored.ID != turn.ID {
			t.Errorf("turn %s again: stored as %s, fresh %v, %v", turn.ClientID, stored.ID, fresh, err)
		}
	}
	turns, err := u.store.ListTurns(t.Context(),
		db.TurnFilter{AppID: u.owner.AppID, UserID: u.owner.UserID, Limit: 10_000})
	must(t, err)
	if len(turns) != len(u.turns) {
		t.Errorf("%s has %d turns, want %d", u.owner.UserID, len(turns), len(u.turns))
	}
}

// clients returns clients of some users with memories and turns.
func clients(t *testing.T, s *Store, n, writes int) []*client {
	t.Helper()
	all := make([]*client, n)
	for i := range all {
		owner := memory.Owner{AppID: "app", UserID: fmt.Sprint("user", i)}
		all[i] = &client{store: s, owner: owner, written: map[string]string{}}
		for n := range writes {
			must(t, all[i].write(t.Context(), n))
		}
	}
	return all
}

// No recall may wait longer than a lock may be waited for. The rest is for a busy machine.
func TestPartition_GoesOnUnderReadersAndWriters(t *testing.T) {
	t.Parallel()
	const lockWait, slack = 500 * time.Millisecond, 2 * time.Second
	url := postgrestest.URL(t)
	s := migrated(t, url)
	all := clients(t, s, 5, 40)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var slowest atomic.Int64
	var recalls atomic.Int64
	var work errgroup.Group
	work.Go(func() error {
		for n := 1000; ctx.Err() == nil; n++ {
			if err := all[n%len(all)].write(t.Context(), n); err != nil {
				return fmt.Errorf("write: %w", err)
			}
		}
		return nil
	})
	work.Go(func() error {
		for n := 0; ctx.Err() == nil; n++ {
			begun := time.Now()
			if err := all[n%len(all)].recall(t.Context()); err != nil {
				return fmt.Errorf("recall: %w", err)
			}
			slowest.Store(max(slowest.Load(), int64(time.Since(begun))))
			recalls.Add(1)
		}
		return nil
	})
	copied := map[string]bool{}
	err := s.Partition(t.Context(), partition.Options{
		Partitions: 4, Batch: 20, LockWait: lockWait,
		OnProgress: func(p partition.Progress) { copied[p.Table] = copied[p.Table] || p.Rows > 20 },
	})
	after := recalls.Load()
	for deadline := time.Now().Add(time.Minute); recalls.Load() < after+5 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond) // sessions that began before the conversion go on
	}
	stop()
	must(t, err)
	must(t, work.Wait())
	if recalls.Load() < after+5 {
		t.Error("recalls do not go on after the conversion")
	}
	if d := time.Duration(slowest.Load()); d > lockWait+slack {
		t.Errorf("a recall took %v", d)
	}
	for _, table := range []string{"agent_memories", "embeddings", "memory_events", "turns"} {
		if !copied[table] {
			t.Errorf("rows of %s were not copied in several batches", table)
		}
	}
	for _, u := range all {
		u.check(t)
	}
	for _, u := range all { // a new session keeps its plans
		u.store = migrated(t, url)
		u.check(t)
		must(t, u.recall(t.Context()))
		break
	}
}

// A conversion that ends early, in whichever of its steps, goes on with the next run.
func TestPartition_GoesOnAfterACrash(t *testing.T) {
	t.Parallel()
	s := migrated(t, postgrestest.URL(t))
	all := clients(t, s, 3, 10)
	n := 100
	for _, at := range []partition.Progress{
		{Step: "prepare", Table: "embeddings"},
		{Step: "copy", Table: "agent_memories"},
		{Step: "copy", Table: "turns"},
		{Step: "analyze", Table: "embeddings"},
		{Step: "swap"},
		{Step: "validate"},
	} {
		crash(t, s, at)
		for _, u := range all {
			n++
			must(t, u.write(t.Context(), n))
			must(t, u.recall(t.Context()))
		}
	}
	must(t, s.Partition(t.Context(), partition.Options{Partitions: 4}))
	for _, u := range all {
		u.check(t)
	}
}

// crash begins a conversion and ends it at a step.
func crash(t *testing.T, s *Store, at partition.Progress) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := s.Partition(ctx, partition.Options{Partitions: 4, Batch: 5, OnProgress: func(p partition.Progress) {
		if p.Step == at.Step && p.Table == at.Table {
			cancel()
		}
	}})
	if err == nil {
		t.Fatalf("the conversion did not end at %v", at)
	}
	// Its session, whose connection was closed within a statement, may have the lock for a while.
	_, err = s.pool.Exec(t.Context(), `SELECT pg_advisory_lock(key), pg_advisory_unlock(key)
		FROM hashtextextended('hippocampus partition ' || current_schema(), 0) AS key`)
	must(t, err)
}
