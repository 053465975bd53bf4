package recall

import (
	"context"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// restarted returns a service on the same stores that knows nothing yet.
func (f *fixture) restarted(records Records) *Service {
	return New(records, f, f, f, f.touches, f.set, f.Service.now, f.log)
}

// withoutStored reads no stored index.
type withoutStored struct{ Records }

func (withoutStored) Index(context.Context, memory.Owner) (int64, []byte, error) { return 0, nil, nil }

func TestRun_StoresIndexesOfManyDocuments(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var many []memory.Memory
	for range leastStored {
		m := f.memory("Ada keeps bees")
		m.Embedding = nil
		many = append(many, m)
	}
	insert := func(memories ...memory.Memory) {
		t.Helper()
		if err := f.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
			return tx.Insert(ctx, memories, begin)
		}); err != nil {
			t.Fatal(err)
		}
	}
	insert(many[1:]...)
	f.recall(Query{Text: "bees"})
	if len(f.saves) != 0 {
		t.Fatal("an index of few documents is stored")
	}
	insert(many[0])
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { f.Run(ctx); close(ended) }()
	defer func() { cancel(); <-ended }()
	f.recall(Query{Text: "bees"})
	revision := int64(0)
	for revision == 0 {
		var err error
		if revision, _, err = f.store.Index(t.Context(), ada); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}

	insert(f.memory("Ada likes honey"))
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
