package recall

import (
	"context"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// restarted returns a service on the same stores that knows nothing yet.
func (f *fixture) restarted(records Records) *Service {
	return New(records, f, f, f, f.touches, f.set, f.Service.now, f.log)
}

// insertMany inserts memories of Ada without embeddings.
func (f *fixture) insertMany(n int) {
	f.t.Helper()
	many := make([]memory.Memory, n)
	for i := range many {
		many[i] = f.memory("Ada keeps bees")
		many[i].Embedding = nil
	}
	if err := f.store.InUser(f.t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, many, begin)
	}); err != nil {
		f.t.Fatal(err)
	}
}

// runOnce stores the indexes that wait to be stored.
func (f *fixture) runOnce() {
	ended, cancel := context.WithCancel(f.t.Context())
	cancel()
	f.Run(ended)
}

// withoutStored reads no stored index.
type withoutStored struct{ Records }

func (withoutStored) Index(context.Context, memory.Owner) (int64, []byte, error) { return 0, nil, nil }

func TestRun_StoresIndexesOfManyDocuments(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.insertMany(leastStored - 1)
	f.recall(Query{Text: "bees"})
	if len(f.saves) != 0 {
		t.Fatal("an index of few documents is stored")
	}
	f.insertMany(1)
	f.recall(Query{Text: "bees"})
	f.runOnce()
	if revision, _, err := f.store.Index(t.Context(), ada); revision == 0 || err != nil {
		t.Fatalf("an index of many documents is not stored: %v", err)
	}

	f.add("Ada likes honey", nil, false)
	reads := &countedReads{Records: f.store}
	answer, err := f.restarted(reads).Recall(t.Context(), Query{Owner: ada, Text: "honey", Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, answer, "Ada likes honey")
	if reads.documents != 1 || answer.Fit.Memories != leastStored+1 {
		t.Errorf("read %d documents; fit: %+v", reads.documents, answer.Fit)
	}
	f.recall(Query{Text: "bees"})
	if len(f.saves) != 0 {
		t.Error("an index is stored again after few changes")
	}
}

func TestRecall_IgnoresAStoredIndexThatCannotBeRead(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("Ada keeps bees", nil, true)
	if err := f.store.SaveIndex(t.Context(), ada, 2, []byte("no index")); err != nil {
		t.Fatal(err)
	}
	expect(t, f.recall(Query{Text: "bees"}), "Ada keeps bees")
}
