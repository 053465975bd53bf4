package recall

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// countedReads counts the reads of the revision, and of all documents.
type countedReads struct {
	Records
	revisions, documents int
}

func (c *countedReads) RevisionAndUnconfirmed(
	ctx context.Context, owner memory.Owner, since time.Time, limit int,
) (int64, []memory.Memory, error) {
	c.revisions++
	return c.Records.RevisionAndUnconfirmed(ctx, owner, since, limit)
}

func (c *countedReads) RevisionDocumentsAndUnconfirmed(
	ctx context.Context, owner memory.Owner, since time.Time, limit int,
) (db.OwnerDocuments, error) {
	c.documents++
	return c.Records.RevisionDocumentsAndUnconfirmed(ctx, owner, since, limit)
}

func TestRecall_ReadsTheRevisionOnceAndDocumentsOnlyAfterAChange(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	reads := &countedReads{Records: b.store}
	b.records = reads
	b.now = begin.Add(time.Hour)
	b.add("Ada keeps bees", nil, true)
	recall := func(when string, revisions, documents int, want ...string) {
		t.Helper()
		reads.revisions, reads.documents = 0, 0
		expect(t, b.recall(Query{Text: "bees"}), want...)
		if reads.revisions != revisions || reads.documents != documents {
			t.Errorf("%s: read the revision %d times and the documents %d times, not %d and %d",
				when, reads.revisions, reads.documents, revisions, documents)
		}
	}
	recall("first", 0, 1, "Ada keeps bees")
	recall("second", 1, 0, "Ada keeps bees")
	recall("third", 1, 0, "Ada keeps bees")
	written := b.add("Bees sting", nil, false)
	recall("after a write", 1, 1, "Ada keeps bees", "Bees sting")
	recall("while the write is not confirmed", 1, 0, "Ada keeps bees", "Bees sting")
	if err := b.vectors.Insert(t.Context(), []vectorstore.Record{vectorstore.RecordOf(written)}); err != nil {
		t.Fatal(err)
	}
	if err := b.store.FinishVectors(t.Context(), []db.VectorTask{{Memory: written}}, b.now); err != nil {
		t.Fatal(err)
	}
	recall("just confirmed", 1, 0, "Ada keeps bees", "Bees sting")
	b.now = b.now.Add(time.Minute)
	recall("confirmed", 1, 0, "Ada keeps bees", "Bees sting")
	reads.revisions = 0
	if a := b.recall(Query{Text: "bees", MinImportance: 1}); len(a.Memories) != 0 || reads.revisions != 1 {
		t.Errorf("read the revision %d times for an answer of %d", reads.revisions, len(a.Memories))
	}
	b.vectorsAway = true
	reads.revisions = 0
	if a := b.recall(Query{Text: "bees"}); len(a.Memories) != 2 || len(a.Degraded) != 1 || reads.revisions != 1 {
		t.Errorf("without the vector store: read the revision %d times for %+v", reads.revisions, a)
	}
}

// Whatever another process does between queries, a server that has cached the
// owner's index answers like one that has just started.
func TestRecall_CachedIndexChangesNoAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	steps := []string{"recall", "recall", "recall", "write", "forget", "touch", "lose", "push again", "wait"}
	rapid.Check(t, func(r *rapid.T) {
		b.now = begin
		owner := memory.Owner{AppID: ada.AppID, UserID: memory.NewID()}
		var all []memory.Memory
		write := func(pushed bool) {
			all = append(all, b.add(fmt.Sprintf("Ada keeps bees in hive%d", len(all)), func(m *memory.Memory) { m.Owner = owner }, pushed))
		}
		for range 8 {
			write(true)
		}
		b.now = begin.Add(time.Hour)
		for range rapid.IntRange(3, 12).Draw(r, "steps") {
			i := rapid.IntRange(0, len(all)-1).Draw(r, "memory")
			var err error
			switch rapid.SampledFrom(steps).Draw(r, "step") {
			case "write":
				write(rapid.Bool().Draw(r, "pushed"))
			case "forget":
				all[i].Status, all[i].Revision = memory.Forgotten, all[i].Revision+1
				err = b.store.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error { return tx.Update(ctx, all[i]) })
			case "touch":
				err = b.store.Touch(t.Context(), []db.Touch{{ID: all[i].ID, Count: 1, At: b.now}})
			case "lose":
				err = b.vectors.Delete(t.Context(), []string{all[i].ID})
			case "push again":
				err = b.vectors.Delete(t.Context(), []string{all[i].ID})
				if _, again := b.store.Requeue(t.Context(), []string{all[i].ID}, b.now); err == nil {
					err = again
				}
			case "wait":
				b.now = b.now.Add(6 * time.Second)
			}
			if err != nil {
				r.Fatal(err)
			}
			q := Query{Owner: owner, Text: fmt.Sprintf("bees of hive%d", i), Limit: rapid.IntRange(1, 12).Draw(r, "limit"), NoTouch: true}
			got := b.recall(q)
			want, err := New(b.store, b, b, b, b.touches, b.set, b.Service.now, b.log).Recall(t.Context(), q)
			if err != nil {
				r.Fatal(err)
			}
			if !slices.EqualFunc(got.Memories, want.Memories, same) || !slices.Equal(got.Degraded, want.Degraded) {
				r.Fatalf("recalled\n%v, not\n%v", contents(got), contents(want))
			}
		}
	})
}

// same reports whether two answers hold the same memory for the same reasons.
func same(a, b Recalled) bool {
	return a.Memory.ID == b.Memory.ID && a.Memory.Status == b.Memory.Status && a.Score == b.Score && a.Similarity == b.Similarity &&
		a.Lexical == b.Lexical && a.Decay == b.Decay && slices.Equal(a.Sources, b.Sources)
}
