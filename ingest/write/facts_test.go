package write

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
)

// wholeReads counts how often all facts are read.
type wholeReads struct {
	Records
	n int
}

func (r *wholeReads) Facts(
	ctx context.Context, owner memory.Owner, since time.Time, limit int,
) ([]memory.Memory, error) {
	r.n++
	return r.Records.Facts(ctx, owner, since, limit)
}

// After the first call, only the facts that have changed are read. The result is the same as that of reading all facts.
func TestNewestFacts_TakesChanges(t *testing.T) {
	t.Parallel()
	store, clock := apptest.SQLite(t), apptest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	reads := &wholeReads{Records: store}
	w := New(Parts{Records: reads, Pusher: apptest.NewPusher(clock), Now: clock.Now}, Settings{})
	ada := memory.Owner{AppID: "app", UserID: "ada"}
	add := func(content string) string {
		t.Helper()
		clock.Advance(time.Second)
		m := memory.Memory{Owner: ada, Content: content, Type: memory.TypeFact, Domain: memory.Lifestyle}
		m = Complete(m, []float32{1}, "a model", clock.Now())
		if _, err := w.Write(t.Context(), Batch{Owner: ada, Cause: "test", Drafts: []Draft{{Memory: m}}}); err != nil {
			t.Fatal(err)
		}
		return m.ID
	}
	edit := func(id string, f func(m *memory.Memory)) {
		t.Helper()
		clock.Advance(time.Second)
		err := store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
			found, err := tx.Memories(ctx, []string{id})
			if err != nil {
				return err
			}
			before := found[0]
			f(&found[0])
			return history.NewRecorder(tx, "test", clock.Now()).Update(ctx, before, &found[0])
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	expect := func(when string) {
		t.Helper()
		got, err := w.activeFacts(t.Context(), ada)
		if err != nil {
			t.Fatal(err)
		}
		want, err := store.Facts(t.Context(), ada, time.Time{}, factsLimit)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(got, want, func(a, b memory.Memory) bool {
			return a.ID == b.ID && a.Content == b.Content && a.Lexemes == b.Lexemes && a.Revision == b.Revision
		}) {
			t.Errorf("%s: got %v, want %v", when, got, want)
		}
	}
	var ids []string
	for i := range 5 {
		ids = append(ids, add(fmt.Sprintf("fact %d", i)))
	}
	expect("at first")
	add("another fact")
	expect("after a write")
	edit(ids[1], func(m *memory.Memory) { m.Content = "a fact in other words" })
	edit(ids[2], func(m *memory.Memory) { m.Status = memory.Forgotten })
	expect("after an edit and a deletion")
	if reads.n != 1 {
		t.Errorf("all facts were read %d times", reads.n)
	}
	w.Purge()
	expect("after a purge")
	if reads.n != 2 {
		t.Error("a purge keeps facts")
	}
}
