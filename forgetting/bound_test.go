package forgetting

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// active lists the ids of the user's active memories.
func (b *fixture) active() []string {
	b.t.Helper()
	list, err := b.store.Documents(b.t.Context(), ada)
	if err != nil {
		b.t.Fatal(err)
	}
	ids := []string{}
	for _, d := range list {
		ids = append(ids, d.ID)
	}
	return ids
}

func (b *fixture) count() int {
	b.t.Helper()
	n, err := b.store.CountActive(b.t.Context(), ada)
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

// counting records how often memories are counted.
type counting struct {
	Records
	n int
}

func (c *counting) CountActive(ctx context.Context, owner memory.Owner) (int, error) {
	c.n++
	return c.Records.CountActive(ctx, owner)
}

// Messages go before every fact, whatever their retention.
func TestTrim_ForgetsMessagesFirst(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.set.MaxMemories = 3
	said := func(m *memory.Memory) { m.Type = memory.TypeMessage }
	faded, fresh := b.add(2, 60, nil), b.add(2, 0, said)
	if n, err := b.Trim(t.Context(), ada); err != nil || n != 1 {
		t.Fatalf("forgot %d: %v", n, err)
	}
	want := []string{faded[0].ID, faded[1].ID, fresh[1].ID}
	if got := b.active(); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("%v are left, want %v", got, want)
	}
}

// The order of forgetting, computed by hand: base^days * (0.5 + 0.5*importance), base 0.9.
func TestTrim_ForgetsTheLowestRetentionFirst(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.set.MaxMemories = 3
	importance := func(v float64) func(*memory.Memory) { return func(m *memory.Memory) { m.Importance = v } }
	fresh := b.add(1, 0, importance(0.2))[0]  // 1      * 0.6  = 0.6
	old := b.add(1, 10, importance(1))[0]     // 0.3487 * 1    = 0.3487
	middling := b.add(1, 3, importance(0))[0] // 0.729  * 0.5  = 0.3645
	pinned := b.add(1, 90, func(m *memory.Memory) { m.Pinned = true })[0]
	insight := b.add(1, 5, func(m *memory.Memory) {
		m.Type, m.Importance = memory.TypeReflection, 0
	})[0] // 0.59049 * 0.5 = 0.2952
	b.MemoriesAdded(t.Context(), ada, 5)
	if got := b.active(); len(got) != 3 || slices.Contains(got, insight.ID) || slices.Contains(got, old.ID) {
		t.Errorf("active %q, want %s, %s and %s", got, fresh.ID, middling.ID, pinned.ID)
	}
	if !slices.Equal(b.pusher.Pushed(), []string{insight.ID, old.ID}) {
		t.Errorf("pushed %q", b.pusher.Pushed())
	}
	events, err := b.store.History(t.Context(), ada.AppID, old.ID)
	if err != nil || len(events) != 1 || events[0].Kind != memory.EventForgotten || events[0].Cause != "bound" {
		t.Fatalf("%+v, %v", events, err)
	}
	var told struct {
		From, To           map[string]string
		Retention, Maximum float64
	}
	if err := json.Unmarshal(events[0].Detail, &told); err != nil {
		t.Fatal(err)
	}
	if told.From["status"] != "active" || told.To["status"] != "forgotten" || told.Maximum != 3 ||
		told.Retention < 0.3486 || told.Retention > 0.3487 {
		t.Errorf("%s", events[0].Detail)
	}
}

func TestTrim_KeepsPinnedMemories(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.set.MaxMemories = 2
	b.add(4, 90, func(m *memory.Memory) { m.Pinned = true })
	b.add(1, 0, nil)
	b.MemoriesAdded(t.Context(), ada, 5)
	if got := b.active(); len(got) != 4 {
		t.Errorf("%d are active, want the 4 pinned ones", len(got))
	}
}

func TestMemoriesAdded_EnforcesTheMaximum(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.set.MaxMemories = 50
	for i := range 80 {
		b.add(1+i%3, i%20, nil)
		b.MemoriesAdded(t.Context(), ada, 1+i%3)
		if n := b.count(); n > 50 || i > 40 && n < 50 {
			t.Fatalf("after write %d there are %d active memories", i, n)
		}
	}
	b.set.MaxMemories = 0
	b.add(20, 0, nil)
	b.MemoriesAdded(t.Context(), ada, 20)
	if n := b.count(); n != 70 {
		t.Errorf("without a maximum there are %d", n)
	}
	b.set.MaxMemories = 60
	if totals, err := b.RunAll(t.Context(), "schedule"); err != nil || totals.Forgotten != 10 || b.count() != 60 {
		t.Errorf("%+v, %v", totals, err)
	}
}

// A hundredth of a large maximum is freed at once, and memories are rarely counted.
func TestMemoriesAdded_CountsLargeMaximaRarely(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.set.MaxMemories = 800
	counted := &counting{Records: b.records}
	b.records = counted
	most := 0
	for n := range 200 {
		b.add(5, n%30, nil)
		b.MemoriesAdded(t.Context(), ada, 5)
		most = max(most, b.count())
	}
	if most > 800 || most < 795 {
		t.Errorf("at most %d were active, want up to 800", most)
	}
	if counted.n > 100 {
		t.Errorf("counted %d times in 200 writes", counted.n)
	}
}

func TestMemoriesAdded_SharesTheRoomAmongServers(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.set.MaxMemories = 800
	servers := []*Service{b.Service}
	for range 7 {
		servers = append(servers, New(b.records, b.pusher, b.set, b.now, b.log))
	}
	for i := range 150 {
		b.add(7, i%9, nil)
		servers[i%8].MemoriesAdded(t.Context(), ada, 7)
		if n := b.count(); n > 800 {
			t.Fatalf("%d are active", n)
		}
	}
}

func TestMemoriesAdded_HandlesConcurrentWriters(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.set.MaxMemories = 20
	b.add(60, 3, nil)
	var group errgroup.Group
	for range 4 {
		group.Go(func() error { _, err := b.Trim(t.Context(), ada); return err })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := b.count(); n != 20 {
		t.Errorf("%d are active, want 20", n)
	}
}

// A memory that was pinned between the selection and the change stays.
func TestTrim_KeepsMemoriesPinnedInTheMeantime(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.set.MaxMemories = 1
	least := b.add(1, 30, nil)[0]
	b.add(1, 0, nil)
	b.enter = func() {
		b.enter = nil
		least.Pinned, least.UpdatedAt = true, begin.Add(time.Second)
		if err := b.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
			return tx.Update(ctx, least)
		}); err != nil {
			t.Error(err)
		}
	}
	if n, err := b.Trim(t.Context(), ada); n != 0 || err != nil {
		t.Errorf("%d were forgotten, %v", n, err)
	}
}

// Memories that an import, a restore or another server adds are counted with a write a minute later.
func TestMemoriesAdded_NoticesWritesOfOtherServers(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.set.MaxMemories = 80
	b.add(1, 0, nil)
	b.MemoriesAdded(t.Context(), ada, 1) // there is room for 9 more
	b.add(100, 1, nil)                   // not reported
	b.clock.Advance(roomAge)
	b.add(1, 0, nil)
	b.MemoriesAdded(t.Context(), ada, 1)
	if n := b.count(); n != 80 {
		t.Errorf("%d are active, want 80", n)
	}
}
