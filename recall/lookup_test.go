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

// countedReads counts the reads of an owner's changes.
type countedReads struct {
	Records
	reads     int
	all       int // those of all documents
	documents int // the documents that were read
}

func (c *countedReads) Changes(
	ctx context.Context, owner memory.Owner, after int64, since time.Time, limit int,
) (db.Changes, error) {
	read, err := c.Records.Changes(ctx, owner, after, since, limit)
	c.reads++
	if read.All {
		c.all++
	}
	c.documents += len(read.Documents)
	return read, err
}

func TestRecall_ReadsOnceWhatHasChanged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	reads := &countedReads{Records: f.store}
	f.records = reads
	f.now = begin.Add(time.Hour)
	f.add("Ada keeps bees", nil, true)
	recall := func(when string, all, documents int, want ...string) {
		t.Helper()
		*reads = countedReads{Records: f.store}
		expect(t, f.recall(Query{Text: "bees"}), want...)
		if reads.reads != 1 || reads.all != all || reads.documents != documents {
			t.Errorf("%s: %d reads, %d of all documents, %d documents, not 1, %d and %d",
				when, reads.reads, reads.all, reads.documents, all, documents)
		}
	}
	recall("first", 1, 1, "Ada keeps bees")
	recall("second", 0, 0, "Ada keeps bees")
	written := f.add("Bees sting", nil, false)
	recall("after a write", 0, 1, "Ada keeps bees", "Bees sting")
	recall("while the write is not confirmed", 0, 0, "Ada keeps bees", "Bees sting")
	if err := f.vectors.Insert(t.Context(), []vectorstore.Record{vectorstore.RecordOf(written)}); err != nil {
		t.Fatal(err)
	}
	if err := f.store.FinishVectors(t.Context(), []db.VectorTask{{Memory: written, Claim: 1}}, f.now); err != nil {
		t.Fatal(err)
	}
	recall("just confirmed", 0, 0, "Ada keeps bees", "Bees sting")
	f.now = f.now.Add(time.Minute)
	recall("confirmed", 0, 0, "Ada keeps bees", "Bees sting")
	reads.reads = 0
	if a := f.recall(Query{Text: "bees", MinImportance: 1}); len(a.Memories) != 0 || reads.reads != 1 {
		t.Errorf("read %d times for an answer of %d", reads.reads, len(a.Memories))
	}
	f.vectorsDown = true
	reads.reads = 0
	if a := f.recall(Query{Text: "bees"}); len(a.Memories) != 2 || len(a.Degraded) != 1 || reads.reads != 1 {
		t.Errorf("without the vector store: read %d times for %+v", reads.reads, a)
	}
}

// Neither a touch nor a write of another user is a change.
func TestRecall_KeepsTheIndexUntilAChange(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	records := &countedReads{Records: f.store}
	f.records = records
	sky := f.add("The sky is green here", nil, true)
	reads := func(all, documents int, what string) {
		t.Helper()
		f.recall(Query{Owner: ada, Text: "sky"})
		if records.all != all || records.documents != documents {
			t.Errorf("%s: read all documents %d times and %d documents, not %d and %d",
				what, records.all, records.documents, all, documents)
		}
	}
	reads(1, 1, "at first")
	reads(1, 1, "again")
	if err := f.store.Touch(t.Context(), []db.Touch{{Owner: sky.Owner, ID: sky.ID, Count: 1, At: f.now}}); err != nil {
		t.Fatal(err)
	}
	reads(1, 1, "after a touch")
	f.add("Bob's sky is red", func(m *memory.Memory) { m.Owner = bob }, true)
	reads(1, 1, "after a write of another user")
	f.add("The sky was blue", nil, true)
	reads(1, 2, "after a write")
	expect(t, f.recall(Query{Owner: ada, Text: "blue sky", Limit: 1}), "The sky was blue")
	f.Purge()
	reads(2, 4, "after a purge")
}

// Whatever another process does between queries, a server that has cached the
// owner's index answers like one that has just started.
func TestRecall_CachedIndexChangesNoAnswer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	steps := []string{
		"recall", "recall", "recall", "write", "change", "forget", "touch", "lose", "push again", "wait", "store",
	}
	rapid.Check(t, func(r *rapid.T) {
		f.now = begin
		owner := memory.Owner{AppID: ada.AppID, UserID: memory.NewID()}
		var all []memory.Memory
		write := func(pushed bool) {
			content := fmt.Sprintf("Ada keeps bees in hive%d", len(all))
			all = append(all, f.add(content, func(m *memory.Memory) { m.Owner = owner }, pushed))
		}
		for range 8 {
			write(true)
		}
		f.now = begin.Add(time.Hour)
		for range rapid.IntRange(3, 12).Draw(r, "steps") {
			i := rapid.IntRange(0, len(all)-1).Draw(r, "memory")
			var err error
			switch step := rapid.SampledFrom(steps).Draw(r, "step"); step {
			case "write":
				write(rapid.Bool().Draw(r, "pushed"))
			case "change", "forget":
				all[i].Revision++
				all[i].Content += " again"
				all[i].Lexemes += " again"
				if step == "forget" {
					all[i].Status = memory.Forgotten
				}
				err = f.store.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
					return tx.Update(ctx, all[i])
				})
			case "touch":
				err = f.store.Touch(t.Context(), []db.Touch{{Owner: all[i].Owner, ID: all[i].ID, Count: 1, At: f.now}})
			case "lose":
				err = f.vectors.Delete(t.Context(), []string{all[i].ID})
			case "push again":
				err = f.vectors.Delete(t.Context(), []string{all[i].ID})
				_, again := f.store.Requeue(t.Context(), []string{all[i].ID}, f.now)
				if err == nil {
					err = again
				}
			case "store":
				if x, ok := f.indexes.Get(indexKey(owner)); ok {
					var data []byte
					if data, err = x.encode(); err == nil {
						err = f.store.SaveIndex(t.Context(), owner, x.revision, data)
					}
				}
			case "wait":
				f.now = f.now.Add(6 * time.Second)
			}
			if err != nil {
				r.Fatal(err)
			}
			q := Query{
				Owner: owner, Text: fmt.Sprintf("bees of hive%d", i), NoTouch: true,
				Limit: rapid.IntRange(1, 12).Draw(r, "limit"),
			}
			got := f.recall(q)
			for from, records := range map[string]Records{
				"all documents": withoutStored{f.store}, "the stored index": f.store,
			} {
				want, err := f.restarted(records).Recall(t.Context(), q)
				if err != nil {
					r.Fatal(err)
				}
				if !slices.EqualFunc(got.Memories, want.Memories, same) || !slices.Equal(got.Degraded, want.Degraded) {
					r.Fatalf("recalled\n%v, not as from %s\n%v", contents(got), from, contents(want))
				}
			}
		}
	})
}

// same reports whether two answers hold the same memory for the same reasons.
func same(a, b Recalled) bool {
	return a.Memory.ID == b.Memory.ID && a.Memory.Status == b.Memory.Status && a.Score == b.Score &&
		a.Similarity == b.Similarity && a.Lexical == b.Lexical && a.Decay == b.Decay &&
		slices.Equal(a.Sources, b.Sources)
}
