package ingest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/ingest/write"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// cities are statements of one attribute: each replaces the ones that were said before.
var cities = []string{
	"The user lives in Porto", "The user lives in Faro", "The user lives in Braga", "The user lives in Oslo",
}

// replacing makes all cities similar. The scorer answers with the city that a turn names, and the judge replaces each
// city.
func (b *fixture) replacing() {
	for i, home := range cities {
		b.similar(cities[0], home, 0.9)
		b.models.Facts(fmt.Sprintf("home %d.", i),
			llmtest.Fact{Fact: home, Importance: 0.8, Domain: memory.Lifestyle})
	}
	decisions := map[string]string{}
	for _, home := range cities {
		decisions[home] = "replace"
	}
	b.models.OnPrompt(judgeMark, answersBy(decisions))
}

// acceptHome accepts a turn that states a home, said this many hours after the beginning.
func (b *fixture) acceptHome(home, hour int) memory.Turn {
	b.t.Helper()
	turn, _, err := b.Accept(b.t.Context(), memory.Turn{
		Owner: ada, At: begin.Add(time.Duration(hour-100) * time.Hour),
		Messages: []memory.Message{{Role: "user", Content: fmt.Sprintf("%s: home %d.", cities[home], home)}},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return turn
}

// twin is a second process that works on the same stores.
func (b *fixture) twin() *fixture {
	parts := b.Service.Parts
	parts.Writer = write.New(b.Writer.Parts, comparing)
	twin := *b
	twin.Service = New(parts, b.set)
	return &twin
}

// meet returns a function whose first n calls wait until all n were made.
func meet(n int) func() error {
	var mu sync.Mutex
	calls, met := 0, make(chan struct{})
	return func() error {
		mu.Lock()
		calls++
		if calls == n {
			close(met)
		}
		mu.Unlock()
		<-met
		return nil
	}
}

// latestAnswers fails unless the home that was said last is the only active one.
func (b *fixture) latestAnswers(want string) {
	b.t.Helper()
	if active := b.facts(); len(active) != 1 || active[0].Content != want {
		b.t.Errorf("active %+v, want %q alone", active, want)
	}
}

// Facts of turns that are scored at the same time replace each other in the order in which they were said.
func TestWrite_ComparesTurnsOfOneUserInOrder(t *testing.T) {
	t.Parallel()
	for _, hasModel := range []bool{true, false} {
		b := newFixture(t)
		b.replacing()
		if !hasModel {
			b.Writer.Judge = nil
		}
		var turns sync.WaitGroup
		for i, hour := range []int{3, 1, 2, 0} {
			turn := b.acceptHome(i, hour)
			turns.Go(func() {
				if err := b.processTurn(t.Context(), turn.ID); err != nil {
					t.Error(err)
				}
			})
		}
		turns.Wait()
		b.latestAnswers(cities[0])
		if n := b.Writer.Undecided(); n > 0 {
			t.Errorf("with a model %t: %d judgements failed", hasModel, n)
		}
	}
}

// If two processes compare turns of one user before either has written, the second writer compares its turn again.
func TestWrite_ComparesAgainWhatAnotherProcessWrote(t *testing.T) {
	t.Parallel()
	for _, hasModel := range []bool{true, false} {
		for want, hours := range map[string][]int{cities[0]: {2, 1}, cities[1]: {1, 2}} {
			b := newFixture(t)
			b.replacing()
			if !hasModel {
				b.Writer.Judge = nil
			}
			twin := b.twin()
			first, second := b.acceptHome(0, hours[0]), b.acceptHome(1, hours[1])
			b.spy.enter = meet(2)
			var turns sync.WaitGroup
			for process, turn := range map[*fixture]memory.Turn{b: first, twin: second} {
				turns.Go(func() {
					if err := process.processTurn(t.Context(), turn.ID); err != nil {
						t.Error(err)
					}
				})
			}
			turns.Wait()
			b.latestAnswers(want)
		}
	}
}

// If other facts are written after each comparison of a fact, the fact is kept, and the reason says why.
func TestWrite_EndsComparingAgain(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.replacing()
	twin := b.twin()
	turn := b.acceptHome(0, 0)
	others, busy := 1, false
	b.spy.enter = func() error {
		if !busy {
			busy = true
			twin.write(cities[others], 0.8, begin.Add(time.Duration(others)*time.Hour))
			others++
			busy = false
			b.clock.Advance(time.Minute) // a judge may take longer than the time for which writes count as recent
		}
		return nil
	}
	if err := b.processTurn(t.Context(), turn.ID); err != nil {
		t.Fatal(err)
	}
	list, err := b.store.ListJobs(t.Context(), db.JobFilter{Kinds: []string{write.JudgeAgain{}.Kind()}, Limit: 10})
	if err != nil || len(list) != 1 {
		t.Errorf("jobs %+v, %v", list, err)
	}
	got := b.outcome(turn.ID).Candidates
	if len(got) != 1 || !strings.Contains(got[0].Reason, "written while it was judged") || others != 4 ||
		b.Writer.Undecided() != 1 {
		t.Errorf("after %d writes of another process: %+v", others, got)
	}
}
