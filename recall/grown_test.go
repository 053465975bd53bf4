package recall

import (
	"context"
	"slices"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// After an import, a server that does not know the user reads what has changed since and no more.
func TestMemoriesAdded_FirstRecallReadsOnlyChanges(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for range 4 {
		f.insertMany(500)
		f.MemoriesAdded(ada, 500)
	}
	f.runOnce()
	f.add("Ada likes honey", nil, true)
	reads := &countedReads{Records: f.store}
	answer, err := f.restarted(reads).Recall(t.Context(), Query{Owner: ada, Text: "honey", Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, answer, "Ada likes honey")
	if reads.all != 0 || reads.documents != 1 || answer.Fit.Memories != 2001 {
		t.Errorf("read all documents %d times, and %d documents; fit: %+v", reads.all, reads.documents, answer.Fit)
	}
	if _, cached := f.indexes.Get(indexKey(ada)); cached {
		t.Error("the index of a user who has not recalled is cached")
	}
}

// storedReads counts how often an index is stored, and how often documents are read.
type storedReads struct {
	countedReads
	stored int
}

func (s *storedReads) SaveIndex(ctx context.Context, owner memory.Owner, revision int64, data []byte) error {
	s.stored++
	return s.countedReads.SaveIndex(ctx, owner, revision, data)
}

func TestMemoriesAdded_StoresAnIndexWhenAnEighthIsNew(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	reads := &storedReads{countedReads: countedReads{Records: f.store}}
	f.records = reads
	add := func(n, stored, documents int) {
		t.Helper()
		f.insertMany(n)
		f.MemoriesAdded(ada, n)
		*reads = storedReads{countedReads: countedReads{Records: f.store}}
		f.runOnce()
		if reads.stored != stored || reads.documents != documents {
			t.Errorf("after %d more: stored %d times and read %d documents, not %d and %d",
				n, reads.stored, reads.documents, stored, documents)
		}
	}
	add(124, 0, 0)
	add(800, 0, 0) // they are counted, and not read
	add(75, 0, 0)
	add(1, 1, 1000)
	add(142, 0, 0)
	add(1, 1, 143)
	add(100, 0, 0)
	f.recall(Query{Text: "bees"}) // the index is cached, and 100 documents of it are not stored
	add(70, 1, 70)
	if err := f.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, []memory.Memory{f.memory("Ada likes honey")}, begin)
	}); err != nil {
		t.Fatal(err)
	}
	if a := f.recall(Query{Text: "honey", Limit: 1}); a.Fit.Memories != 1314 {
		t.Errorf("%+v", a.Fit)
	}
}

// If the server ends while the documents of an index are read, the index is stored in the remaining time.
func TestRun_StoresTheIndexThatItsEndInterrupts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.insertMany(leastStored)
	f.MemoriesAdded(ada, leastStored)
	ctx, cancel := context.WithCancel(t.Context())
	reads := &canceledReads{storedReads: storedReads{countedReads: countedReads{Records: f.store}}, cancel: cancel}
	f.records = reads
	f.growth.take(false) // ada has stopped growing by the next look
	f.Run(ctx)
	if reads.stored != 1 {
		t.Errorf("the index is stored %d times", reads.stored)
	}
}

// An index that could not be stored is stored later, although nothing is added in the meantime.
func TestStoreGrown_TriesAgainAfterAFailure(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.insertMany(leastStored)
	f.MemoriesAdded(ada, leastStored)
	store := &failingStore{storedReads: storedReads{countedReads: countedReads{Records: f.store}}, failures: 2}
	f.records = store
	looks := 0
	for ; store.stored == 0 && looks < 10*growPause; looks++ {
		f.storeGrown(t.Context(), f.growth.take(false))
	}
	if store.failures != 0 || store.stored != 1 {
		t.Errorf("%d failures are left, and the index is stored %d times", store.failures, store.stored)
	}
	if looks < 2*growPause {
		t.Errorf("three attempts took %d looks", looks)
	}
	f.storeGrown(t.Context(), f.growth.take(true))
	if store.stored != 1 {
		t.Error("the index is stored again, although nothing was added")
	}
}

// failingStore fails the first attempts to store an index.
type failingStore struct {
	storedReads
	failures int
}

func (s *failingStore) SaveIndex(ctx context.Context, owner memory.Owner, revision int64, data []byte) error {
	if s.failures > 0 {
		s.failures--
		return errDown
	}
	return s.storedReads.SaveIndex(ctx, owner, revision, data)
}

// canceledReads cancels a context when documents are read for the first time.
type canceledReads struct {
	storedReads
	cancel context.CancelFunc
}

func (c *canceledReads) Changes(
	ctx context.Context, owner memory.Owner, revision int64, since time.Time, limit int,
) (db.Changes, error) {
	c.cancel()
	return c.storedReads.Changes(ctx, owner, revision, since, limit)
}

func TestGrowth_WaitsWhileAnOwnerGrows(t *testing.T) {
	t.Parallel()
	g := newGrowth()
	due := func(what string, want ...memory.Owner) {
		t.Helper()
		if got := g.take(false); !slices.Equal(got, want) {
			t.Errorf("%s: %v is due", what, got)
		}
	}
	g.add(bob, leastStored/storedChanges-1)
	g.add(ada, leastStored/storedChanges)
	due("while ada grows")
	g.add(ada, 1)
	due("while ada grows further")
	due("when ada has stopped", ada)
	due("afterwards")
	g.set(ada, 10)
	g.add(ada, 9)
	due("ada grows little")
	due("ada has grown little")
	for range growLooks {
		g.add(ada, 1)
		due("while ada keeps growing")
	}
	g.add(ada, 1)
	due("when ada has grown for long", ada)
	g.add(bob, 1)
	if got := g.take(true); !slices.Equal(got, []memory.Owner{bob}) {
		t.Errorf("at the end %v is due", got)
	}
}
