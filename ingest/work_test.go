package ingest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// work has workers process turns; end ends them and waits for that.
func (b *bench) work(workers int) (end func()) {
	b.slots = make(chan struct{}, workers)
	b.set.Workers, b.set.Timeout = workers, time.Minute
	ctx, cancel := context.WithCancel(b.t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); b.Work(ctx) }()
	end = func() { cancel(); <-ended }
	b.t.Cleanup(end)
	return end
}

// handed accepts a turn that an idle worker takes; those that come while there
// is none are left accepted.
func (b *bench) handed(text string) memory.Turn {
	b.t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if turn := b.accept(text); len(b.accepted.take()) == 0 {
			return turn
		}
	}
	b.t.Fatal("no worker is idle")
	return memory.Turn{}
}

func (b *bench) processed(turn memory.Turn) Outcome {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 5*time.Minute)
	defer cancel()
	o, err := b.Await(ctx, turn.AppID, turn.ID)
	if err != nil || o.Turn.Status != memory.TurnProcessed || o.Turn.Attempts != 1 {
		b.t.Fatalf("%+v, %v", o.Turn, err)
	}
	return o
}

func (b *bench) jobs() []db.JobInfo {
	b.t.Helper()
	list, err := b.store.ListJobs(b.t.Context(), db.JobFilter{Kinds: []string{ProcessTurn{}.Kind()}, Limit: 100})
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

// A turn that a worker is idle for needs no job; while none is, turns are
// queued, and those of the queue wait, too.
func TestIdleWorkersTakeAcceptedTurns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.models.Facts("bees", llmtest.Fact{Fact: "Keeps bees", Importance: 0.9, Domain: memory.Lifestyle})
	b.work(2)
	if o := b.processed(b.handed("I keep bees")); len(o.Candidates) != 1 || len(b.memories()) != 1 {
		t.Errorf("%+v", o)
	}
	asked, answer := make(chan struct{}, 2), make(chan struct{})
	b.models.OnChat(func(llmtest.ChatRequest) llmtest.Reply {
		asked <- struct{}{}
		<-answer
		return llmtest.Text(`{"facts": []}`)
	})
	first, second := b.handed("one"), b.handed("two")
	<-asked
	<-asked
	third := b.accept("three")
	if waiting := b.accepted.take(); !slices.Equal(waiting, []string{third.ID}) {
		t.Errorf("%q are to be queued, want %s", waiting, third.ID)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := b.Process(ctx, third.ID); err == nil {
		t.Error("a third turn is processed beside two")
	}
	close(answer)
	b.processed(first)
	b.processed(second)
	if err := b.Process(t.Context(), third.ID); err != nil {
		t.Fatal(err)
	}
	b.processed(third)
	if list := b.jobs(); len(list) != 0 {
		t.Errorf("jobs %+v", list)
	}
}

// What is under way when the server ends, and takes too long, is queued for the next.
func TestWorkLeavesWhatTakesTooLongToTheQueue(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.models.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Hang() })
	end := b.work(1)
	turn := b.handed("I keep bees")
	end()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	b.Dispatch(ended)
	if list := b.jobs(); len(list) != 1 || b.outcome(turn.ID).Turn.Status != memory.TurnAccepted {
		t.Errorf("jobs %+v, turn %+v", list, b.outcome(turn.ID).Turn)
	}
	if held := b.holding(); len(held) != 0 || len(b.slots) != 0 {
		t.Errorf("held %v, %d slots", held, len(b.slots))
	}
}

// ending is a database whose EndTurns can be held up.
type ending struct {
	Records
	call func(turnIDs []string) error
}

func (e *ending) EndTurns(ctx context.Context, turnIDs []string, at time.Time) error {
	if err := e.call(turnIDs); err != nil {
		return err
	}
	return e.Records.EndTurns(ctx, turnIDs, at)
}

// Turns of which nothing is kept are ended together, and are held until they
// are. Those that cannot be ended are not scored again.
func TestTurnsOfWhichNothingIsKeptEndTogether(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	entered, release := make(chan struct{}), make(chan error)
	var mu sync.Mutex
	var sizes []int
	b.Records = &ending{b.Records, func(turnIDs []string) error {
		mu.Lock()
		sizes = append(sizes, len(turnIDs))
		first := len(sizes) == 1
		mu.Unlock()
		if first {
			close(entered)
			return <-release
		}
		return nil
	}}
	end := b.work(1)
	first := b.handed("one")
	<-entered
	for _, text := range []string{"two", "three", "four"} {
		b.handed(text)
	}
	b.slots <- struct{}{} // when the last one is scored
	if held := b.holding(); len(held) != 4 {
		t.Errorf("%d turns are held, want all 4 that are not ended", len(held))
	}
	<-b.slots
	asked := b.models.Chats()
	release <- errNotNow
	end()
	if want := []int{1, 3}; !slices.Equal(sizes, want) || len(b.holding()) != 0 {
		t.Errorf("ended %v, want %v; held %v", sizes, want, b.holding())
	}
	if err := b.Process(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	if b.processed(first); b.models.Chats() != asked {
		t.Error("the scorer was asked again")
	}
}
