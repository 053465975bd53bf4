package session

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/memory"
)

// A turn that one process accepts is in the next read by any other process.
func TestWorking_ReadsWritesOfOtherReplicas(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	one := b.replica(small)
	two := b.replica(small)
	forgetful := b.replica(Settings{Events: 10, Tokens: 1000,
		Age: time.Hour})
	for i := range 30 {
		by := []*Service{one, two}[i%2]
		b.say(by, "c", said(fmt.Sprint("event ", i)))
		for name, s := range map[string]*Service{"one": one, "two": two, "one without rings": forgetful} {
			b.wantNumbers(name, b.working(s, "c"), max(1, int64(i)+1-9), int64(i)+1)
		}
	}
	if n := forgetful.CacheStats().Entries; n != 0 {
		t.Errorf("%d rings are kept where none may", n)
	}
	if s := one.CacheStats(); s.Entries != 1 || s.Misses != 1 { // the first event makes the ring
		t.Errorf("%+v", s)
	}
}

// A conversation that is deleted and started again shows no events of the deleted one in any process, even if it has
// as many events again.
func TestWorking_AfterAConversationWasDeletedAndStartedAgain(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	here, there := b.replica(small), b.replica(small)
	b.sayMany(here, "c", 1, 3)
	b.working(here, "c")
	b.working(there, "c")
	gone, err := here.Delete(t.Context(), ada, "c")
	b.must(err)
	if gone.Turns != 3 || here.CacheStats().Entries != 0 {
		t.Errorf("%+v; %+v", gone, here.CacheStats())
	}
	for _, s := range []*Service{here, there} {
		if _, err := s.Working(t.Context(), "app", "ada", "c", Filter{}); !memory.IsKind(err, memory.KindNotFound) {
			t.Errorf("a deleted conversation: %v", err)
		}
	}
	for i := range 3 {
		b.say(nil, "c", said(fmt.Sprint("new ", i)))
	}
	b.say(there, "c", said("new 3")) // follows number 3 of the deleted conversation in its ring
	for _, s := range []*Service{here, there} {
		if diff := cmp.Diff([]string{"new 0", "new 1", "new 2", "new 3"}, contents(b.working(s, "c").Events)); diff != "" {
			t.Error(diff)
		}
	}
	there.Purge()
	if n := there.CacheStats().Entries; n != 0 {
		t.Errorf("%d rings are left", n)
	}
}

// A late notification of a turn of a deleted conversation adds no event to the new one.
func TestOnTurnAccepted_IgnoresTurnsOutOfOrder(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	s := b.replica(small)
	b.say(s, "c", said("old 0"))
	late := b.say(nil, "c", said("old 1"))
	_, err := s.Delete(t.Context(), ada, "c")
	b.must(err)
	b.say(s, "c", said("new 0"))
	s.OnTurnAccepted(late)
	for _, want := range [][]string{{"new 0"}, {"new 0", "new 1"}} {
		if diff := cmp.Diff(want, contents(b.working(s, "c").Events)); diff != "" {
			t.Error(diff)
		}
		b.say(nil, "c", said("new 1"))
	}
}

// The view of a ring, computed by hand.
func TestWorking_IsBounded(t *testing.T) {
	t.Parallel()
	event := func(n int64, importance float64, tokens, minutes int) Event {
		return Event{Number: n, Importance: importance, Tokens: tokens, At: noon.Add(-time.Duration(minutes) * time.Minute)}
	}
	r := ring{last: 6, events: []Event{
		event(1, .9, 10, 600), event(2, .4, 10, 60), event(3, .49, 10, 59), event(4, .5, 10, 61), event(5, .6, 25, 1),
		event(6, .6, 5, 0),
	}}
	for _, c := range []struct {
		summarised int64
		tokens     int
		want       []int64
	}{
		{0, 1000, []int64{1, 3, 4, 5, 6}}, // 2 is an hour old and matters little
		{1, 1000, []int64{3, 4, 5, 6}},
		{5, 1000, []int64{6}},
		{6, 1000, []int64{}},
		{0, 60, []int64{1, 3, 4, 5, 6}}, // 5+25+10+10+10
		{0, 59, []int64{3, 4, 5, 6}},
		{0, 49, []int64{4, 5, 6}},
		{0, 30, []int64{5, 6}},
		{0, 29, []int64{6}},
		{0, 1, []int64{6}}, // the latest is always included
	} {
		got := []int64{}
		_, latest := fit(r.recent(c.summarised, Settings{Age: time.Hour}, noon), c.tokens)
		for _, e := range latest {
			got = append(got, e.Number)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("after %d with %d tokens: %s", c.summarised, c.tokens, diff)
		}
	}
}

// Each of two processes shows what the log holds after any sequence of changes.
func TestWorking_MatchesTheLog(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	random := rand.New(rand.NewPCG(1, 2))
	replicas := []*Service{b.replica(small), b.replica(small),
		b.replica(Settings{Events: 10, Tokens: 1000, Age: time.Hour, Summary: 400, CacheBytes: 3000})}
	ids := []string{"a", "b", "c"}
	for step := range 600 {
		id, s := ids[random.IntN(len(ids))], replicas[random.IntN(len(replicas))]
		var by *Service
		if random.IntN(3) > 0 {
			by = s
		}
		switch n := random.IntN(20); {
		case n < 9:
			var messages []memory.Message
			for i := range 1 + random.IntN(4) {
				messages = append(messages, said(fmt.Sprintf("%s %d.%d", id, step, i)))
			}
			b.say(by, id, messages...)
		case n == 9:
			b.say(by, id, said(fmt.Sprintf("%d ", step)+strings.Repeat("long ", 500)))
		case n == 10:
			if _, err := s.Delete(t.Context(), ada, id); err != nil && !memory.IsKind(err, memory.KindNotFound) {
				t.Fatal(err)
			}
		case n == 11:
			if c, err := b.store.Conversation(t.Context(), "app", "ada", id); err == nil {
				_, err := s.Work(t.Context(), s.compaction(c).(CompactConversation))
				b.must(err)
			}
		default:
			got, err := s.Working(t.Context(), "app", "ada", id, Filter{})
			want, wantErr := b.replica(Settings{Events: 10, Tokens: 1000, Age: time.Hour}).Working(t.Context(), "app", "ada",
				id, Filter{})
			if memory.KindOf(err) != memory.KindOf(wantErr) {
				t.Fatalf("step %d: %v, want %v", step, err, wantErr)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("step %d (-log +ring):\n%s", step, diff)
			}
		}
	}
}

// The least recently used rings are evicted first, and the statistics count the bytes of the held rings.
func TestRings_AreBounded(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	set := small
	set.CacheBytes = 20_000
	s := b.replica(set)
	for i := range 50 {
		b.sayMany(s, fmt.Sprint("c", i), 1, 3)
		b.working(s, "c0") // is in use
		if held := s.CacheStats(); held.Bytes > set.CacheBytes {
			t.Fatalf("%d bytes are held", held.Bytes)
		}
	}
	before := s.CacheStats()
	if before.Entries < 5 || before.Entries > 25 {
		t.Errorf("%d rings of about 1 kB in 20 kB", before.Entries)
	}
	for id, held := range map[string]bool{"c0": true, "c49": true, "c48": true, "c1": false, "c10": false} {
		if _, ok := s.rings.Get(keyOf(ada, id)); ok != held {
			t.Errorf("the ring of %s is held: %v", id, ok)
		}
	}
}
