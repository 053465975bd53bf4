package ingest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"hippocampus/internal/memory"
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

// After the first time, only the facts that have changed are read, and the answer is that of
// reading all.
func TestReadFacts_TakesChanges(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	reads := &wholeReads{Records: b.Records}
	b.Records = reads
	var ids []string
	for i := range 5 {
		ids = append(ids, b.write(fmt.Sprintf("fact %d", i), 0.8, time.Time{}).Memory.ID)
		b.clock.Advance(time.Second)
	}
	expect := func(when string) {
		t.Helper()
		got, err := b.readFacts(t.Context(), ada)
		if err != nil {
			t.Fatal(err)
		}
		want, err := reads.Records.Facts(t.Context(), ada, time.Time{}, factsLimit)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(got, want, func(a, b memory.Memory) bool {
			return a.ID == b.ID && a.Content == b.Content && a.Lexemes == b.Lexemes && a.Revision == b.Revision
		}) {
			t.Errorf("%s: got %v, want %v", when, got, want)
		}
	}
	expect("at first")
	b.clock.Advance(time.Second)
	b.write("another fact", 0.8, time.Time{})
	expect("after a write")
	b.clock.Advance(time.Second)
	text := "a fact in other words"
	if _, err := b.Change(t.Context(), ada.AppID, ids[1], Change{Content: &text}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Forget(t.Context(), ada.AppID, ids[2]); err != nil {
		t.Fatal(err)
	}
	expect("after an edit and a deletion")
	if reads.n != 1 {
		t.Errorf("all facts were read %d times", reads.n)
	}
	b.Purge()
	expect("after a purge")
	if reads.n != 2 {
		t.Error("a purge keeps facts")
	}
}
