package dbtest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// newFact returns an accepted, open fact with every other field set.
func newFact(owner memory.Owner, key, value string, from time.Time) memory.Fact {
	return memory.Fact{
		ID:         memory.NewID(),
		Owner:      owner,
		Type:       "profile",
		Key:        key,
		Value:      json.RawMessage(value),
		Confidence: 0.8125,
		ValidFrom:  from,
		Source:     "用户 \"said\" it's so",
		State:      memory.FactAccepted,
		Reason:     "nothing was valid",
		RecordedAt: from,
	}
}

// addFacts stores facts of one owner.
func addFacts(t *testing.T, s db.Store, facts ...memory.Fact) {
	t.Helper()
	must(t, tryFacts(t, s, facts[0].Owner, facts...))
}

func tryFacts(t *testing.T, s db.Store, owner memory.Owner, facts ...memory.Fact) error {
	return s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
		for _, f := range facts {
			if err := tx.AddFact(ctx, f); err != nil {
				return err
			}
		}
		return nil
	})
}

// city is the timeline that most tests use.
var city = db.Timeline{Owner: alice, Type: "profile", Key: "city"}

// factsOf returns all facts of a timeline, oldest first.
func factsOf(t *testing.T, s db.Store, timeline db.Timeline) []memory.Fact {
	t.Helper()
	found, err := s.FactHistory(t.Context(), timeline, nil, memory.MaxPage)
	must(t, err)
	return found
}

func factRoundTrip(t *testing.T, s db.Store) {
	values := []string{
		`"里斯本 🍵 it's \"x\" \\ "`, `null`, `0`, `false`, `[1.50, {"b": 1, "a": []}]`,
		`"` + strings.Repeat("x", memory.MaxFactValue-2) + `"`,
	}
	var want []memory.Fact
	for i, value := range values {
		f := newFact(alice, "city", value, after(10*i))
		f.ValidUntil = after(10*i + 5)
		want = append(want, f)
	}
	want[0].MemoryID = memory.NewID()
	want[0].EndsMemory = true
	want[0].Due = after(5)
	want[1].MemoryID = memory.NewID()
	ended := newFact(alice, "city", "", after(60))
	ended.State, ended.Value = memory.FactEnded, nil
	refused := newFact(alice, "city", `1`, after(61))
	confirmed := newFact(alice, "city", `1`, after(62))
	replaced := newFact(alice, "city", `1`, after(63))
	open := newFact(alice, "city", `2`, after(63))
	refused.State = memory.FactRefused
	confirmed.State = memory.FactConfirmed
	replaced.State = memory.FactReplaced
	open.Due = after(63)
	replaced.RecordedAt = after(64)
	want = append(want, ended, refused, confirmed, open, replaced)
	addFacts(t, s, want...)
	wantSame(t, "history", factsOf(t, s, city), want)
	if got := factsOf(t, s, city); string(got[1].Value) != "null" || got[6].Value != nil {
		t.Errorf("values are %q and %q, want null and nil", got[1].Value, got[6].Value)
	}

	changed := want[0]
	changed.Confidence = 1
	changed.ValidUntil = after(4)
	changed.State = memory.FactReplaced
	changed.Reason = "other \x00"
	changed.MemoryID = ""
	changed.EndsMemory = false
	changed.Due = time.Time{}
	ignored := changed
	ignored.Type = "x"
	ignored.Key = "x"
	ignored.Value = nil
	ignored.ValidFrom = after(99)
	ignored.Source = "x"
	ignored.RecordedAt = after(99)
	change := func(owner memory.Owner, f memory.Fact) error {
		return s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error { return tx.ChangeFact(ctx, f) })
	}
	must(t, change(alice, ignored))
	changed.Reason = "other \uFFFD"
	wantSame(t, "changed", factsOf(t, s, city)[0], changed)

	unknown := changed
	unknown.ID = memory.NewID()
	wantKind(t, change(alice, unknown), memory.KindNotFound)
	unknown.ID = "no id"
	wantKind(t, change(alice, unknown), memory.KindInvalid)
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	wantKind(t, change(bob, changed), memory.KindNotFound)
	changed.Owner = bob
	wantKind(t, change(bob, changed), memory.KindNotFound)
}

// factLimits checks what the store refuses.
func factLimits(t *testing.T, s db.Store) {
	stored := newFact(alice, "city", `"Lisbon"`, after(10))
	stored.MemoryID, stored.EndsMemory = memory.NewID(), true
	addFacts(t, s, stored)
	for what, c := range map[string]struct {
		spoil func(*memory.Fact)
		want  memory.Kind
	}{
		"the same instant":  {func(f *memory.Fact) { f.ValidFrom, f.ValidUntil = after(10), after(20) }, memory.KindConflict},
		"a second open one": {func(f *memory.Fact) { f.ValidUntil = time.Time{} }, memory.KindConflict},
		"a second memory":   {func(f *memory.Fact) { f.MemoryID, f.EndsMemory = memory.NewID(), true }, memory.KindConflict},
		"the same id":       {func(f *memory.Fact) { f.ID = stored.ID }, memory.KindConflict},
		"no memory to end":  {func(f *memory.Fact) { f.EndsMemory = true }, memory.KindInvalid},
		"never valid":       {func(f *memory.Fact) { f.ValidUntil = f.ValidFrom }, memory.KindInvalid},
		"no type":           {func(f *memory.Fact) { f.Type = "" }, memory.KindInvalid},
		"a long key":        {func(f *memory.Fact) { f.Key = strings.Repeat("界", memory.MaxFactName+1) }, memory.KindInvalid},
		"no value":          {func(f *memory.Fact) { f.Value = nil }, memory.KindInvalid},
		"no JSON":           {func(f *memory.Fact) { f.Value = json.RawMessage(`{`) }, memory.KindInvalid},
		"a long value": {func(f *memory.Fact) {
			f.Value = json.RawMessage(`"` + strings.Repeat("x", memory.MaxFactValue-1) + `"`)
		}, memory.KindInvalid},
		"a long source": {
			func(f *memory.Fact) { f.Source = strings.Repeat("界", memory.MaxFactSource+1) },
			memory.KindInvalid,
		},
		"a high confidence":   {func(f *memory.Fact) { f.Confidence = 1.01 }, memory.KindInvalid},
		"an unknown state":    {func(f *memory.Fact) { f.State = "unknown" }, memory.KindInvalid},
		"an end with a value": {func(f *memory.Fact) { f.State = memory.FactEnded }, memory.KindInvalid},
		"no id":               {func(f *memory.Fact) { f.ID = "no id" }, memory.KindInvalid},
		"no id of a memory":   {func(f *memory.Fact) { f.MemoryID = "no id" }, memory.KindInvalid},
		"another user's":      {func(f *memory.Fact) { f.UserID = "bob" }, memory.KindNotFound},
	} {
		f := newFact(alice, "city", `"Porto"`, after(1))
		f.ValidUntil = after(5)
		c.spoil(&f)
		if got := memory.KindOf(tryFacts(t, s, alice, f)); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
	fine := newFact(alice, "city", `"Porto"`, after(1))
	fine.ValidUntil = after(5)
	addFacts(t, s, fine)
	wantSame(t, "stored", factsOf(t, s, city), []memory.Fact{fine, stored})
	// The limits do not apply across timelines, users and apps.
	for _, owner := range []memory.Owner{alice, {AppID: "app", UserID: "bob"}, {AppID: "other", UserID: "alice"}} {
		key := "city"
		if owner == alice {
			key = "City"
		}
		f := newFact(owner, key, `"Lisbon"`, after(10))
		f.MemoryID, f.EndsMemory = memory.NewID(), true
		addFacts(t, s, f)
	}
}

// factTimeline reads this timeline in a transaction:
//
//	10 [a) 20 [b) 30 ended at 35, 40 [c ...
func factTimeline(t *testing.T, s db.Store) {
	a := newFact(alice, "city", `"a"`, after(10))
	b := newFact(alice, "city", `"b"`, after(20))
	c := newFact(alice, "city",
		`"c"`, after(40))
	a.ValidUntil, b.ValidUntil = after(20), after(30)
	c.MemoryID, c.EndsMemory = memory.NewID(), true
	ended := newFact(alice, "city", "", after(35))
	ended.State, ended.Value = memory.FactEnded, nil
	refused := newFact(alice, "city", `"r"`, after(15))
	refused.State = memory.FactRefused
	gone := newFact(alice, "city", `"g"`, after(37))
	gone.State = memory.FactReplaced
	addFacts(t, s, a, b, c, ended, refused, gone)
	elsewhere := newFact(alice, "job", `"x"`, after(12))
	elsewhere.ValidUntil = after(13)
	addFacts(t, s, elsewhere)
	addFacts(t, s, newFact(memory.Owner{AppID: "app", UserID: "bob"}, "city", `"x"`, after(5)))
	addFacts(t, s, newFact(memory.Owner{AppID: "other", UserID: "alice"}, "city", `"x"`, after(5)))

	type view struct {
		valid string
		next  int // seconds; 0 if there is no next fact
	}
	micro := time.Microsecond
	must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		for _, c := range []struct {
			at   time.Time
			want view
		}{
			{after(0), view{"", 10}},
			{after(10).Add(-micro), view{"", 10}},
			{after(10), view{`"a"`, 20}},
			{after(15), view{`"a"`, 20}},
			{after(20).Add(-micro), view{`"a"`, 20}},
			{after(20), view{`"b"`, 35}},
			{after(30).Add(-micro), view{`"b"`, 35}},
			{after(30), view{"", 35}},
			{after(35), view{"", 40}},
			{after(40), view{`"c"`, 0}},
			{after(99999), view{`"c"`, 0}},
		} {
			f, ok, err := tx.FactAt(ctx, "profile", "city", c.at)
			must(t, err)
			next, err := tx.NextFact(ctx, "profile", "city", c.at)
			must(t, err)
			got := view{next: int(next.Sub(epoch) / time.Second)}
			if next.IsZero() {
				got.next = 0
			}
			if ok {
				got.valid = string(f.Value)
			}
			if got != c.want {
				t.Errorf("at %s: %+v, want %+v", c.at.Sub(epoch), got, c.want)
			}
		}
		withMemory, ok, err := tx.FactWithMemory(ctx, "profile", "city")
		must(t, err)
		wantSame(t, "fact with a memory", withMemory, c)
		_, other, err := tx.FactWithMemory(ctx, "profile", "job")
		if !ok || other {
			t.Errorf("fact with a memory: %v, on another timeline: %v", ok, other)
		}
		must(t, err)
		of, err := tx.FactsOf(ctx, []string{c.MemoryID, memory.NewID(), "no id"})
		wantSame(t, "facts of the memory", of, []memory.Fact{c})
		return err
	}))
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	must(t, s.InUser(t.Context(), bob, func(ctx context.Context, tx db.UserTx) error {
		of, err := tx.FactsOf(ctx, []string{c.MemoryID})
		wantSame(t, "facts of another user's memory", of, []memory.Fact{})
		return err
	}))
}

// listFacts compares pages of valid facts with the stored ones.
func listFacts(t *testing.T, s db.Store) {
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	var all []memory.Fact
	for i := range 24 { // key k0: 0 to 10, k1: 1 to 11, ...; every fourth is open
		f := newFact(alice, fmt.Sprint("k", i), fmt.Sprint(i), after(i/2))
		f.Type = []string{"profile", "work"}[i%2]
		if i%4 != 0 {
			f.ValidUntil = after(i + 10)
		}
		all = append([]memory.Fact{f}, all...)
	}
	for i := len(all) - 1; i > 0; i -= 2 { // same instant: ordered by id
		if all[i].ID > all[i-1].ID {
			all[i], all[i-1] = all[i-1], all[i]
		}
	}
	addFacts(t, s, all...)
	addFacts(t, s, newFact(bob, "k1", `"bob's"`, epoch))
	addFacts(t, s, newFact(memory.Owner{AppID: "other", UserID: "alice"}, "k1", `"other's"`, epoch))
	refused := newFact(alice, "k1", `"refused"`, epoch)
	refused.State = memory.FactRefused
	addFacts(t, s, refused)
	instants := []time.Time{{}} // the facts of any time
	for at := -1; at < 40; at += 3 {
		instants = append(instants, after(at))
	}
	for _, at := range instants {
		for what, c := range map[string]struct {
			filter db.FactFilter
			keep   func(memory.Fact) bool
		}{
			"all":      {db.FactFilter{}, func(memory.Fact) bool { return true }},
			"type":     {db.FactFilter{Type: "work"}, func(f memory.Fact) bool { return f.Type == "work" }},
			"key":      {db.FactFilter{Key: "k4"}, func(f memory.Fact) bool { return f.Key == "k4" }},
			"both":     {db.FactFilter{Type: "profile", Key: "k4"}, func(f memory.Fact) bool { return f.Key == "k4" }},
			"mismatch": {db.FactFilter{Type: "work", Key: "k4"}, func(memory.Fact) bool { return false }},
		} {
			want := []memory.Fact{}
			for _, f := range all {
				if (at.IsZero() || f.Valid(at)) && c.keep(f) {
					want = append(want, f)
				}
			}
			for _, limit := range []int{1, 5, memory.MaxPage} {
				f, got := c.filter, []memory.Fact{}
				f.Owner = alice
				f.At = at
				f.Limit = limit
				for {
					page, err := s.ListFacts(t.Context(), f)
					must(t, err)
					got = append(got, page...)
					if len(page) < limit {
						break
					}
					f.Before = &db.Position{At: page[limit-1].ValidFrom, ID: page[limit-1].ID}
				}
				wantSame(t, fmt.Sprint(what, " at ", at), got, want)
			}
		}
	}
}
