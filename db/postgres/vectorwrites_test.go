package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/db/postgres"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/pgvector"
)

// fixture is a database that holds memories and vectors.
type fixture struct {
	*postgres.Store
	vectors  *pgvector.Store
	observer *pgx.Conn // independent of both
	table    string    // of the vectors
	name     string    // of the store's connections
	owner    memory.Owner
}

var (
	serving = memory.Space{Model: "serving", Dim: 4}
	began   = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
)

func openOne(t *testing.T) *fixture {
	t.Helper()
	url, name := postgrestest.PgvectorURL(t), memory.NewID()
	store, err := postgres.Open(t.Context(),
		postgres.Options{URL: url + "&application_name=" + name, MaxConns: 6, Vectors: pgvector.InTransaction{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	if err := store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := store.SetTarget(t.Context(), serving, began); err != nil {
		t.Fatal(err)
	}
	vectors, err := pgvector.Open(t.Context(), pgvector.Options{URL: url, Space: serving})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { vectors.Close() })
	observer, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { observer.Close(context.Background()) })
	o := &fixture{Store: store, vectors: vectors, observer: observer, name: name,
		owner: memory.Owner{AppID: "app", UserID: "user"}}
	if err := observer.QueryRow(t.Context(), `SELECT relname::text FROM pg_class
		WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
		AND relname LIKE 'memory_vectors%'`).Scan(&o.table); err != nil {
		t.Fatal(err)
	}
	return o
}

// memory returns an active memory with a content.
func (o *fixture) memory(content string) memory.Memory {
	return memory.Memory{
		ID: memory.NewID(), Owner: o.owner, Content: content, Type: memory.TypeFact, Domain: memory.Profession,
		Status: memory.Active, CreatedAt: began, UpdatedAt: began, LastAccessedAt: began, Revision: 1,
		Embedding: []float32{0.6, 0, 0.8, 0}, EmbeddingModel: serving.Model,
	}
}

func (o *fixture) insert(t *testing.T, memories ...memory.Memory) {
	t.Helper()
	err := o.InUser(t.Context(), o.owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, memories, time.Time{})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (o *fixture) update(t *testing.T, m memory.Memory) {
	t.Helper()
	err := o.InUser(t.Context(), o.owner, func(ctx context.Context, tx db.UserTx) error { return tx.Update(ctx, m) })
	if err != nil {
		t.Fatal(err)
	}
}

// state returns the vector state of a row, or "" if there is no row.
func (o *fixture) state(t *testing.T, id string) (state memory.VectorState) {
	t.Helper()
	err := o.observer.QueryRow(t.Context(), `SELECT vector_state FROM agent_memories WHERE id = $1`, id).Scan(&state)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		t.Fatal(err)
	}
	return state
}

// shown returns what the vector store shows of a memory, or "" for nothing.
func (o *fixture) shown(t *testing.T, id string) (content string) {
	t.Helper()
	err := o.vectors.Scan(t.Context(), "", 1000, func(r vectorstore.Record) error {
		if r.ID == id {
			content = r.Content
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func (o *fixture) want(t *testing.T, doing string, m memory.Memory, state memory.VectorState, shown string) {
	t.Helper()
	if got, content := o.state(t, m.ID), o.shown(t, m.ID); got != state || content != shown {
		t.Errorf("%s: the row is %q and the vector store shows %q, want %q and %q", doing, got, content, state, shown)
	}
}

// A memory and its vector are created, changed and deleted in one transaction.
func TestVectorWrites_CommitWithTheirMemories(t *testing.T) {
	t.Parallel()
	o := openOne(t)
	m := o.memory("a fact")
	o.insert(t, m)
	o.want(t, "inserted", m, memory.VectorSynced, "a fact")

	change := func(doing, content string, status memory.Status, revision int64, state memory.VectorState, shown string) {
		t.Helper()
		m.Content = content
		m.Status = status
		m.Revision = revision
		m.UpdatedAt = m.UpdatedAt.Add(time.Second)
		o.update(t, m)
		o.want(t, doing, m, state, shown)
	}
	change("changed", "another fact", memory.Active, 2, memory.VectorSynced, "another fact")
	change("changed in what does not show", "another fact", memory.Active, 2, memory.VectorSynced, "another fact")
	change("forgotten", "another fact", memory.Forgotten, 3, memory.VectorAbsent, "")
	change("restored", "another fact", memory.Active, 4, memory.VectorSynced, "another fact")
	hits, err := o.vectors.Search(t.Context(), vectorstore.Query{Owner: o.owner, Embedding: m.Embedding, Limit: 5})
	if err != nil || len(hits) != 1 || hits[0].ID != m.ID {
		t.Errorf("found %v, %v", hits, err)
	}
	if own, err := o.Unconfirmed(t.Context(), o.owner, began.Add(-time.Hour), 10); err != nil || len(own) != 0 {
		t.Errorf("%d writes need a search of the database, %v", len(own), err)
	}
	if tasks, err := o.ClaimDueVectors(t.Context(), began.Add(time.Hour), began.Add(2*time.Hour), 10); err != nil ||
		len(tasks) != 0 {
		t.Errorf("%d are to be pushed, %v", len(tasks), err)
	}

	// Many memories at once, and imported memories of every status.
	many := make([]memory.Memory, 20)
	for i := range many {
		many[i] = o.memory(fmt.Sprint("one of many ", i))
	}
	o.insert(t, many...)
	gone := o.memory("a forgotten one")
	gone.Status = memory.Forgotten
	imported := o.memory("an imported one")
	err = o.InUser(t.Context(), o.owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.Restore(ctx, []memory.Memory{imported, gone}, began)
	})
	if err != nil {
		t.Fatal(err)
	}
	o.want(t, "many", many[19], memory.VectorSynced, "one of many 19")
	o.want(t, "imported", imported, memory.VectorSynced, "an imported one")
	o.want(t, "imported, and forgotten", gone, memory.VectorAbsent, "")
}

// A transaction that is rolled back or killed leaves neither memory nor vector.
func TestVectorWrites_RollBackWithTheirMemories(t *testing.T) {
	t.Parallel()
	o := openOne(t)
	kept := o.memory("it stays as it is")
	o.insert(t, kept)
	fails := map[string]func(ctx context.Context) error{
		"rolled back": func(context.Context) error { return errors.New("no") },
		"killed": func(ctx context.Context) error {
			_, err := o.observer.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1`,
				o.name)
			return err
		},
	}
	for name, fail := range fails {
		m, changed := o.memory("never"), kept
		changed.Content, changed.Revision = "never", 2
		err := o.InUser(t.Context(), o.owner, func(ctx context.Context, tx db.UserTx) error {
			if err := tx.Insert(ctx, []memory.Memory{m}, time.Time{}); err != nil {
				return err
			}
			if err := tx.Update(ctx, changed); err != nil {
				return err
			}
			return fail(ctx)
		})
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		o.want(t, name, m, "", "")
		o.want(t, name, kept, memory.VectorSynced, "it stays as it is")
	}
}

// At every moment, the vector store shows exactly the active memories, and nothing
// is pending.
func TestVectorWrites_LeaveNothingPending(t *testing.T) {
	t.Parallel()
	o := openOne(t)
	writing, stop := context.WithCancel(t.Context())
	defer stop()
	var group errgroup.Group
	for w := range 4 {
		owner := memory.Owner{AppID: "app", UserID: fmt.Sprint("user", w)}
		group.Go(func() error {
			for i := range 40 {
				m := o.memory(fmt.Sprint("fact ", i))
				m.Owner = owner
				for _, status := range []memory.Status{"", memory.Active, memory.Forgotten}[:1+i%3] {
					err := o.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
						if status == "" {
							return tx.Insert(ctx, []memory.Memory{m}, time.Time{})
						}
						m.Status, m.Revision = status, m.Revision+1
						return tx.Update(ctx, m)
					})
					if err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	ended := make(chan error, 1)
	go func() { ended <- group.Wait(); stop() }()
	looks := 0
	for ; writing.Err() == nil || looks == 0; looks++ {
		var pending, apart int
		if err := o.observer.QueryRow(t.Context(), `SELECT
			(SELECT count(*) FROM agent_memories WHERE vector_state IN ('pending', 'removing')),
			(SELECT count(*) FROM (SELECT id::text FROM agent_memories WHERE status = 'active') AS m
			 FULL JOIN `+o.table+` AS v USING (id)
			 WHERE v.user_id IS NULL OR NOT EXISTS (SELECT FROM agent_memories AS a WHERE a.id::text = v.id
			AND a.status = 'active'))`).Scan(&pending, &apart); err != nil {
			t.Fatal(err)
		}
		if pending != 0 || apart != 0 {
			t.Fatalf("look %d: %d are pending, and the stores disagree about %d", looks, pending, apart)
		}
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	t.Logf("%d looks", looks)
}

// If a vector cannot be written with its memory, the memory is written and left to
// the outbox.
func TestVectorWrites_LeaveTheRestToTheOutbox(t *testing.T) {
	t.Parallel()
	o := openOne(t)
	stranger := o.memory("of another model")
	broken := o.memory("without direction")
	bare := o.memory("without embedding")
	stranger.EmbeddingModel = "other"
	broken.Embedding = []float32{0, 0, 0, 0}
	bare.Embedding = nil
	o.insert(t, stranger, broken, bare)
	for _, m := range []memory.Memory{stranger, broken, bare} {
		o.want(t, m.Content, m, memory.VectorPending, "")
	}

	// A push under way may arrive after the change, so that the row stays in the outbox.
	pushed := o.memory("it is being pushed")
	o.insert(t, pushed)
	if _, err := o.Requeue(t.Context(), []string{pushed.ID}, began); err != nil {
		t.Fatal(err)
	}
	if tasks, err := o.ClaimVectors(t.Context(), []string{pushed.ID}, began, began.Add(time.Minute)); err != nil ||
		len(tasks) != 1 || tasks[0].Claim == 1 {
		t.Fatalf("claimed %v, %v", tasks, err)
	}
	pushed.Content, pushed.Revision = "it has changed", 2
	o.update(t, pushed)
	o.want(t, "changed while it was pushed", pushed, memory.VectorPending, "it is being pushed")

	// So do memories that are written while the table is filled or after it was dropped.
	during, after := o.memory("written during a rebuild"), o.memory("written after it")
	if err := o.vectors.Rebuild(t.Context(),
		func(context.Context, vectorstore.Writer) error { o.insert(t, during); return nil }); err != nil {
		t.Fatal(err)
	}
	o.insert(t, after)
	o.want(t, during.Content, during, memory.VectorPending, "")
	o.want(t, after.Content, after, memory.VectorSynced, after.Content)

	if _, err := o.observer.Exec(t.Context(), `DROP TABLE `+o.table); err != nil {
		t.Fatal(err)
	}
	lost := o.memory("written without a table")
	o.insert(t, lost)
	after.Status, after.Revision = memory.Forgotten, 2
	o.update(t, after)
	if o.state(t, lost.ID) != memory.VectorPending || o.state(t, after.ID) != memory.VectorRemoving {
		t.Errorf("without a table: %q and %q", o.state(t, lost.ID), o.state(t, after.ID))
	}
	if err := o.vectors.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	lost.Content, lost.Revision = "the table is back", 2
	o.update(t, lost)
	o.want(t, lost.Content, lost, memory.VectorSynced, lost.Content)

	// While another model is to serve, the outbox decides which space takes a memory.
	if _, err := o.SetTarget(t.Context(), memory.Space{Model: "next", Dim: 5}, began); err != nil {
		t.Fatal(err)
	}
	changing := o.memory("written while the model changes")
	o.insert(t, changing)
	o.want(t, changing.Content, changing, memory.VectorPending, "")
}
