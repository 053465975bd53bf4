package facts

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// grid is a simple timeline: the value that is valid on each day. An open value lasts to the end of the grid.
type grid struct {
	valid [horizon]*told
	ended [horizon]bool // a value was ended on this day
}

const horizon = 60 // days

type told struct {
	value      string
	confidence float64
	from       int
}

func (g *grid) put(value string, confidence float64, from, until int) memory.FactState {
	next := from + 1
	for next < horizon && !g.ended[next] && (g.valid[next] == nil || g.valid[next].from != next) {
		next++
	}
	is := g.valid[from]
	enough := is != nil && (confidence >= is.confidence || confidence >= 0.5)
	switch {
	case is != nil && is.value == value:
		is.confidence = max(is.confidence, confidence)
		if enough && until < horizon {
			for d := from; d < next; d++ {
				if g.valid[d] = nil; d < until {
					g.valid[d] = is
				}
			}
		}
		return confirmed
	case is != nil && is.from < from && !enough, is != nil && is.from == from && confidence < is.confidence:
		return refused
	}
	g.clear(is, from)
	fresh := &told{value, confidence, from}
	for d := from; d < min(next, until); d++ {
		g.valid[d] = fresh
	}
	return accepted
}

func (g *grid) end(on int) bool {
	is := g.valid[on]
	if is != nil {
		g.clear(is, on)
		g.ended[on] = true
	}
	return is != nil
}

func (g *grid) clear(is *told, from int) {
	for d := from; d < horizon; d++ {
		if is != nil && g.valid[d] == is {
			g.valid[d] = nil
		}
	}
}

// TestPut_MatchesTheModelForRandomEvidence compares timelines with a grid after random evidence, in
// random order, while time passes.
func TestPut_MatchesTheModelForRandomEvidence(t *testing.T) {
	t.Parallel()
	b := newSQLite(t)
	rapid.Check(t, func(t *rapid.T) {
		g, today := &grid{}, 20
		line := db.Timeline{Owner: memory.Owner{AppID: "app", UserID: memory.NewID()}, Type: city.Type, Key: city.Key}
		b.clock.Set(day(today))
		days := rapid.IntRange(0, horizon-2)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				value := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "value")
				confidence := rapid.SampledFrom([]float64{0, .3, .4, .5, .8, 1}).Draw(t, "confidence")
				from := days.Draw(t, "from")
				until := horizon
				stated := time.Time{}
				if rapid.Bool().Draw(t, "has an end") {
					until = rapid.IntRange(from+1, horizon-1).Draw(t, "until")
					stated = day(until)
				}
				o, err := b.Put(background, line.Owner, says(value, confidence, day(from), stated), "api")
				if err != nil {
					t.Fatal(err)
				}
				if want := g.put(value, confidence, from, until); o.Fact.State != want {
					t.Fatalf("became %s (%s), want %s", o.Fact.State, o.Fact.Reason, want)
				}
			},
			"end": func(t *rapid.T) {
				on := days.Draw(t, "on")
				_, err := b.End(background, line.Owner, line.Type, line.Key, day(on), "api")
				if g.end(on) != (err == nil) || err != nil && !memory.IsKind(err, memory.KindNotFound) {
					t.Fatalf("an end on day %d: %v", on, err)
				}
			},
			"days pass": func(t *rapid.T) {
				today = min(today+rapid.IntRange(1, 9).Draw(t, "days"), horizon-1)
				b.clock.Set(day(today))
				if _, err := b.RunDue(background, "schedule"); err != nil {
					t.Fatal(err)
				}
			},
			"": func(t *rapid.T) {
				facts := b.accepted(t, line)
				for d, want := range g.valid {
					if got := shown(facts, d); got != want.String() {
						t.Fatalf("on day %d: %s, want %s", d, got, want)
					}
				}
				d := days.Draw(t, "asked for")
				at, err := b.store.ListFacts(background, db.FactFilter{Owner: line.Owner, Type: line.Type, At: day(d), Limit: 9})
				if err != nil || shown(at, d) != g.valid[d].String() {
					t.Fatalf("listed on day %d: %+v, %v, want %s", d, at, err, g.valid[d])
				}
				b.inStep(t, line)
				list := b.active(t, line.Owner)
				if len(list) > 0 && list[0].Content != "The user's home city is "+g.valid[today].value+"." {
					t.Fatalf("remembered: %q", list[0].Content)
				}
			},
		})
	})
}

func (v *told) String() string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%q %g", v.value, v.confidence)
}

// shown lists the values that the facts have on a day.
func shown(facts []memory.Fact, d int) (text string) {
	for _, f := range facts {
		if f.Valid(day(d)) {
			text += fmt.Sprintf("%s %g", f.Value, f.Confidence)
		}
	}
	return text
}

// Replicas that apply evidence of one user concurrently make one timeline.
func TestPut_HandlesConcurrentReplicas(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, open func() db.Store) {
		replicas := []*fixture{newFixture(t, open()), newFixture(t, open())}
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				b, random := replicas[i%2], rand.New(rand.NewPCG(7, uint64(i)))
				for range 15 {
					e := says(string(rune('a'+random.IntN(4))), random.Float64(), day(random.IntN(120)), time.Time{})
					if random.IntN(3) == 0 {
						e.ValidUntil = e.ValidFrom.AddDate(0, 0, 1+random.IntN(40))
					}
					if _, err := b.Put(background, ada, e, "api"); err != nil {
						t.Error(err)
					}
					if random.IntN(8) == 0 {
						if _, err := b.End(background, ada, city.Type, city.Key, day(random.IntN(120)), "api"); err != nil &&
							!memory.IsKind(err, memory.KindNotFound) {
							t.Error(err)
						}
					}
				}
			})
		}
		group.Wait()
		replicas[0].inStep(t, city)
		if n := len(replicas[0].history(t, city)); n < 8*15 {
			t.Errorf("%d of %d pieces of evidence are kept", n, 8*15)
		}
	})
}
