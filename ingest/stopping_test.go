package ingest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

var errHangs = memory.Errorf(memory.KindUnavailable, "the database did not answer in time")

// ofUsers writes a memory of each of n users, and returns their ids.
func (b *fixture) ofUsers(n int) (ids []string) {
	b.t.Helper()
	var writes []Write
	for i := range n {
		owner := memory.Owner{AppID: ada.AppID, UserID: fmt.Sprintf("user %d", i)}
		writes = append(writes, Write{Owner: owner, Content: fmt.Sprintf("I live in house %d", i)})
	}
	for _, r := range b.WriteBatch(b.t.Context(), writes) {
		if r.Err != nil {
			b.t.Fatal(r.Err)
		}
		ids = append(ids, r.Written.Memory.ID)
	}
	return ids
}

// hangAfter lets this many transactions of users begin. It returns the number of those that tried.
func (b *fixture) hangAfter(n int64) *atomic.Int64 {
	tried := &atomic.Int64{}
	b.spy.enter = func() error {
		if tried.Add(1) > n {
			return errHangs
		}
		return nil
	}
	return tried
}

func kinds(t *testing.T, errs []error) (counts map[memory.Kind]int) {
	t.Helper()
	counts = map[memory.Kind]int{}
	for _, err := range errs {
		counts[memory.KindOf(err)]++
	}
	return counts
}

func TestForgetAll_StopsAtTheFirstUnavailable(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ids := b.ofUsers(12)
	tried := b.hangAfter(1)
	var errs []error
	for _, e := range b.ForgetAll(t.Context(), ada.AppID, ids, Forgetting{}) {
		errs = append(errs, e.Err)
	}
	got := kinds(t, errs)
	if tried.Load() != 2 || got[""] != 1 || got[memory.KindUnavailable] != 1 || got[memory.KindNotTried] != 10 {
		t.Errorf("%d transactions, outcomes %v; want 2 transactions, 1 done, 1 unavailable, 10 not tried", tried.Load(), got)
	}
}

// unread are records that cannot be read.
type unread struct {
	Records
	reads int
}

func (u *unread) Memory(context.Context, string, string) (memory.Memory, error) {
	u.reads++
	return memory.Memory{}, errHangs
}

func TestRestoreAll_ReadsNothingAfterTheFirstUnavailable(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ids := b.ofUsers(12)
	records := &unread{Records: b.spy}
	b.Records = records
	for i, e := range b.RestoreAll(t.Context(), ada.AppID, ids, "") {
		want := memory.KindNotTried
		if i == 0 {
			want = memory.KindUnavailable
		}
		if !memory.IsKind(e.Err, want) || e.ID != ids[i] {
			t.Errorf("result %d: %s, %v; want %s", i, e.ID, e.Err, want)
		}
	}
	if records.reads != 1 {
		t.Errorf("%d memories were read, want 1", records.reads)
	}
}

func TestWriteBatch_StopsAtTheFirstUnavailable(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	tried := b.hangAfter(0)
	var writes []Write
	for i := range 40 {
		owner := memory.Owner{AppID: ada.AppID, UserID: fmt.Sprintf("user %d", i)}
		writes = append(writes, Write{Owner: owner, Content: fmt.Sprintf("I live in house %d", i)})
	}
	var errs []error
	for _, r := range b.WriteBatch(t.Context(), writes) {
		errs = append(errs, r.Err)
	}
	got := kinds(t, errs)
	if n := tried.Load(); n > ownersAtOnce || got[memory.KindUnavailable] != int(n) ||
		got[memory.KindNotTried] != len(writes)-int(n) {
		t.Errorf("%d transactions, outcomes %v; want at most %d transactions", n, got, ownersAtOnce)
	}
}

func TestPromote_StopsAtTheFirstUnavailable(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.models.Facts("bees", llmtest.Fact{Fact: "The user keeps bees", Importance: 0.6, Domain: memory.Lifestyle})
	var ids []string
	for i := range 12 {
		owner := memory.Owner{AppID: ada.AppID, UserID: fmt.Sprintf("user %d", i)}
		turn, _, err := b.Accept(t.Context(), memory.Turn{
			Owner: owner, Messages: []memory.Message{{Role: "user", Content: "I keep bees"}},
		})
		if err == nil {
			err = b.processTurn(t.Context(), turn.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, b.outcome(turn.ID).Candidates[0].ID)
	}
	tried := b.hangAfter(1)
	var errs []error
	promoted, _, err := b.Promote(t.Context(), Promotion{AppID: ada.AppID, IDs: ids})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range promoted {
		errs = append(errs, p.Err)
	}
	got := kinds(t, errs)
	if tried.Load() != 2 || got[""] != 1 || got[memory.KindUnavailable] != 1 || got[memory.KindNotTried] != 10 {
		t.Errorf("%d transactions, outcomes %v; want 2 transactions, 1 done, 1 unavailable, 10 not tried", tried.Load(), got)
	}
}
