package facts

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// step is a piece of evidence, or an end if the value is "".
type step struct {
	value       string
	confidence  float64
	from, until int // days; until 0: open
	state       memory.FactState
	want        string // the timeline afterwards
}

const (
	accepted  = memory.FactAccepted
	confirmed = memory.FactConfirmed
	refused   = memory.FactRefused
)

// TestPut_MaintainsTimelines covers every row of the rule in docs/flows/conversations.md, computed by hand.
func TestPut_MaintainsTimelines(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]step{
		"none is valid then": {
			{"A", 0, 10, 0, accepted, "A[10,)"},
			{"B", .1, 0, 0, accepted, "B[0,10) A[10,)"},
			{"C", .09, 5, 7, refused, "B[0,10) A[10,)"},
		},
		"none is valid then, and the end is stated": {
			{"A", 1, 10, 20, accepted, "A[10,20)"},
			{"B", 1, 30, 40, accepted, "A[10,20) B[30,40)"},
			{"C", 1, 20, 0, accepted, "A[10,20) C[20,30) B[30,40)"},
			{"D", 1, 0, 15, accepted, "D[0,10) A[10,20) C[20,30) B[30,40)"},
			{"E", 1, 40, 45, accepted, "D[0,10) A[10,20) C[20,30) B[30,40) E[40,45)"},
		},
		"says the same value": {
			{"A", .6, 0, 0, accepted, "A[0,)"},
			{"A", .9, 5, 0, confirmed, "A[0,)"}, // .9 from now on
			{"A", .3, 0, 0, confirmed, "A[0,)"}, // still .9
			{"B", .8, 0, 0, refused, "A[0,)"},
			{"B", .9, 0, 0, accepted, "B[0,)"},
		},
		"says the same value, and the end is stated": {
			{"A", .9, 0, 0, accepted, "A[0,)"},
			{"A", .4, 5, 20, confirmed, "A[0,)"}, // a guess ends nothing
			{"A", .5, 5, 20, confirmed, "A[0,20)"},
			{"A", .5, 6, 30, confirmed, "A[0,30)"},
			{"A", .5, 7, 0, confirmed, "A[0,30)"},
			{"B", .5, 40, 0, accepted, "A[0,30) B[40,)"},
			{"A", .5, 7, 50, confirmed, "A[0,40) B[40,)"},
		},
		"newer, and no less certain": {
			{"A", .3, 0, 0, accepted, "A[0,)"},
			{"B", .3, 10, 0, accepted, "A[0,10) B[10,)"},
			{"C", .29, 20, 0, refused, "A[0,10) B[10,)"},
			{"C", .31, 20, 25, accepted, "A[0,10) B[10,20) C[20,25)"},
		},
		"newer, and trusted": {
			{"A", .9, 0, 0, accepted, "A[0,)"},
			{"B", .49, 10, 0, refused, "A[0,)"},
			{"B", .5, 10, 0, accepted, "A[0,10) B[10,)"},
		},
		"newer than a value whose end was stated": {
			{"A", .9, 0, 30, accepted, "A[0,30)"},
			{"B", .9, 10, 0, accepted, "A[0,10) B[10,)"},
		},
		"of the same instant": {
			{"A", .6, 0, 0, accepted, "A[0,)"},
			{"B", .59, 0, 0, refused, "A[0,)"}, // trusted, but not newer
			{"B", .6, 0, 0, accepted, "B[0,)"},
			{"C", .7, 0, 5, accepted, "C[0,5)"},
			{"D", 1, 10, 0, accepted, "C[0,5) D[10,)"},
			{"E", 1, 0, 0, accepted, "E[0,10) D[10,)"},
		},
		"what arrives late changes its own stretch": {
			{"A", .9, 0, 0, accepted, "A[0,)"},
			{"C", .9, 20, 0, accepted, "A[0,20) C[20,)"},
			{"B", .4, 10, 0, refused, "A[0,20) C[20,)"},
			{"B", .6, 10, 0, accepted, "A[0,10) B[10,20) C[20,)"},
			{"D", .6, 12, 15, accepted, "A[0,10) B[10,12) D[12,15) C[20,)"},
			{"A", .1, -5, 0, accepted, "A[-5,0) A[0,10) B[10,12) D[12,15) C[20,)"},
		},
		"an end": {
			{"A", .9, 0, 0, accepted, "A[0,)"},
			{"", 0, 10, 0, accepted, "A[0,10)"},
			{"B", .9, 5, 0, accepted, "A[0,5) B[5,10)"}, // does not reach beyond the end
			{"C", .1, 12, 0, accepted, "A[0,5) B[5,10) C[12,)"},
			{"D", .1, 10, 0, accepted, "A[0,5) B[5,10) D[10,12) C[12,)"},
			{"", 0, 11, 0, accepted, "A[0,5) B[5,10) D[10,11) C[12,)"},
			{"D", .9, 10, 20, confirmed, "A[0,5) B[5,10) D[10,11) C[12,)"},
		},
		"an end of the past, and one at the beginning": {
			{"A", .9, 0, 0, accepted, "A[0,)"},
			{"B", .9, 20, 0, accepted, "A[0,20) B[20,)"},
			{"", 0, 5, 0, accepted, "A[0,5) B[20,)"},
			{"", 0, 20, 0, accepted, "A[0,5)"},
			{"C", .9, 8, 0, accepted, "A[0,5) C[8,20)"},
		},
		"the future": {
			{"A", .9, 0, 0, accepted, "A[0,)"},
			{"B", .9, 150, 0, accepted, "A[0,150) B[150,)"},
			{"C", .9, 120, 130, accepted, "A[0,120) C[120,130) B[150,)"},
			{"", 0, 160, 0, accepted, "A[0,120) C[120,130) B[150,160)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSQLite(t)
			for i, s := range steps {
				if s.value == "" {
					if _, err := b.End(t.Context(), ada, city.Type, city.Key, day(s.from), "api"); err != nil {
						t.Fatal(err)
					}
				} else {
					until := time.Time{}
					if s.until != 0 {
						until = day(s.until)
					}
					b.put(t, says(s.value, s.confidence, day(s.from), until), s.state)
				}
				if got := b.timeline(t); got != s.want {
					t.Errorf("step %d: %s, want %s", i, got, s.want)
				}
				b.inStep(t, city)
			}
			if n := len(b.history(t, city)); n != len(steps) {
				t.Errorf("the history holds %d of %d pieces of evidence", n, len(steps))
			}
		})
	}
}

func TestPut_StatesReasons(t *testing.T) {
	t.Parallel()
	b := newSQLite(t)
	first := b.put(t, says("Lisbon", .9, day(0), time.Time{}), accepted)
	id := first.Fact.ID
	if first.Previous != nil || first.Fact.Reason != "nothing was valid at this instant" || !first.Fact.EndsMemory {
		t.Errorf("%+v", first)
	}
	for _, c := range []struct {
		evidence Evidence
		state    memory.FactState
		reason   string
	}{
		{says("Lisbon", 1, day(3), time.Time{}), confirmed, "fact " + id + " says the same"},
		{says("Porto", .4, day(3), time.Time{}), refused,
			"its confidence of 0.4 is below the 1 of fact " + id + " and below the 0.5 that is trusted"},
		{says("Porto", .8, day(0), time.Time{}), refused,
			"it is of the same instant, and its confidence of 0.8 is below the 1 of fact " + id},
		{says("Porto", .8, day(9), time.Time{}), accepted,
			"it is newer, and its confidence of 0.8 is not below the 0.5 that is trusted"},
	} {
		o := b.put(t, c.evidence, c.state)
		if o.Fact.Reason != c.reason || o.Previous == nil || o.Previous.ID != id || o.Previous.Confidence != 1 {
			t.Errorf("%q, want %q; against %+v", o.Fact.Reason, c.reason, o.Previous)
		}
		if until := o.Previous.ValidUntil; (o.Fact.State == accepted) != until.Equal(day(9)) {
			t.Errorf("after %s evidence the value is valid until %s", o.Fact.State, until)
		}
	}
	history := b.history(t, city)
	for i, want := range []memory.FactState{accepted, confirmed, refused, refused, accepted} {
		if history[i].State != want {
			t.Errorf("evidence %d is %s, want %s", i, history[i].State, want)
		}
	}
	if _, err := b.End(t.Context(), ada, city.Type, city.Key, day(-1), "api"); !memory.IsKind(err, memory.KindNotFound) {
		t.Errorf("an end of nothing: %v", err)
	}
	if _, err := b.Put(t.Context(), ada, says("x", 1, time.Time{}, day(99)), "api"); !memory.IsKind(err,
		memory.KindInvalid) {
		t.Errorf("valid from now until yesterday: %v", err)
	}
}

// Values are equal if they mean the same, and keys if they read the same.
func TestPut_ConfirmsEqualValues(t *testing.T) {
	t.Parallel()
	b := newSQLite(t)
	put := func(key, value string, want memory.FactState) {
		t.Helper()
		b.clock.Advance(time.Second)
		b.put(t, Evidence{Type: "Profile", Key: key, Value: json.RawMessage(value), Confidence: .9}, want)
	}
	put("Home Address", `{"zip": 1, "city": "Lisbon", "at": [1.50, 2e1]}`, accepted)
	put("home_address", `{"city":"Lisbon","at":[1.5,20],"zip":1.0}`, confirmed)
	put("home-address", `{"city":"Lisbon","at":[20,1.5],"zip":1}`, accepted)
	if n := len(b.history(t, db.Timeline{Owner: ada, Type: "profile", Key: "home_address"})); n != 3 {
		t.Errorf("%d pieces of evidence", n)
	}
}

// A batch is weighed in order, and makes one memory for each timeline.
func TestApply_TakesBatches(t *testing.T) {
	t.Parallel()
	b := newSQLite(t)
	batch := []Evidence{
		says("Lisbon", .9, day(0), time.Time{}), says("Porto", .9, day(10), time.Time{}),
		says("Faro", .1, day(20), time.Time{}),
		{Type: "profile", Key: "children", Value: json.RawMessage(`2`), Confidence: 1},
	}
	p, err := b.Prepare(t.Context(), ada, batch)
	if err != nil {
		t.Fatal(err)
	}
	var done Applied
	for range 2 { // as if the database retried the transaction
		again := memory.Errorf(memory.KindUnavailable, "again")
		err = b.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
			if done, err = b.Apply(ctx, tx, p, "consolidation"); err != nil {
				return err
			}
			return again
		})
		if !errors.Is(err, again) {
			t.Fatal(err)
		}
	}
	err = b.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) (err error) {
		done, err = b.Apply(ctx, tx, p, "consolidation")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.pusher.Pushed()) != 0 {
		t.Error("pushed before the commit")
	}
	b.Service.Push(t.Context(), done)
	if len(b.pusher.Pushed()) != 2 || len(b.written) != 1 {
		t.Errorf("pushed %v, told of %v", b.pusher.Pushed(), b.written)
	}
	states := []memory.FactState{accepted, accepted, refused, accepted}
	for i, o := range done.Outcomes {
		if o.Fact.State != states[i] || (o.Fact.MemoryID != "") != (i == 1 || i == 3) {
			t.Errorf("outcome %d: %+v", i, o.Fact)
		}
	}
	if f := done.Outcomes[1].Previous; f == nil || !f.ValidUntil.Equal(day(10)) {
		t.Errorf("against %+v", f)
	}
	if got := b.timeline(t); got != "Lisbon[0,10) Porto[10,)" {
		t.Error(got)
	}
	if n := len(b.active(t, ada)); n != 2 {
		t.Errorf("%d active memories", n)
	}
	if p, err := b.Prepare(t.Context(), ada, nil); err != nil || len(p.evidence) != 0 {
		t.Errorf("of nothing: %+v, %v", p, err)
	}
}
