package ingest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// work starts workers; stop stops them and waits for that.
func (b *fixture) work(workers int) (stop func()) {
	b.set.Workers = workers
	b.idle, b.taken = make(chan struct{}, workers), make(chan taken, workers)
	ctx, cancel := context.WithCancel(b.t.Context())
	stopped := make(chan struct{})
	go func() { defer close(stopped); b.Work(ctx) }()
	stop = func() { cancel(); <-stopped }
	b.t.Cleanup(stop)
	return stop
}

// acceptWhenIdle accepts a turn when a worker is idle.
func (b *fixture) acceptWhenIdle(text string) memory.Turn {
	b.t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if len(b.idle) > 0 {
			return b.accept(text)
		}
	}
	b.t.Fatal("no worker is idle")
	return memory.Turn{}
}

// claimable returns the ids of the turns that are due.
func (b *fixture) claimable() (ids []string) {
	b.t.Helper()
	now := b.clock.Now()
	turns, err := b.store.ClaimTurns(b.t.Context(), now, now, 100)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, turn := range turns {
		ids = append(ids, turn.ID)
	}
	return ids
}

func (b *fixture) processed(turn memory.Turn) Outcome {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 5*time.Minute)
	defer cancel()
	o, err := b.Await(ctx, turn.AppID, turn.ID)
	if err != nil || o.Turn.Status != memory.TurnProcessed || o.Turn.Attempts != 1 {
		b.t.Fatalf("%+v, %v", o.Turn, err)
	}
	return o
}

// withoutClaims is a database in which no turn is ever due.
type withoutClaims struct{ Records }

func (withoutClaims) ClaimTurns(context.Context, time.Time, time.Time, int) ([]memory.Turn, error) {
	return nil, nil
}

func TestWork_HandsAcceptedTurnsToIdleWorkers(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.models.Facts("bees", llmtest.Fact{Fact: "Keeps bees", Importance: 0.9, Domain: memory.Lifestyle})
	b.Records = withoutClaims{b.Records}
	b.work(8)
	turn := b.acceptWhenIdle("I keep bees")
	if o := b.processed(turn); len(o.Candidates) != 1 || len(b.memories()) != 1 {
		t.Errorf("%+v", o)
	}
}

// A turn that no worker takes directly is due at once, and is processed when a worker is idle.
func TestWork_ClaimsTurnsWhenAWorkerIsIdle(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	waiting := b.accept("before any worker")
	if ids := b.claimable(); !slices.Equal(ids, []string{waiting.ID}) {
		t.Errorf("%q are due, want %s", ids, waiting.ID)
	}
	asked, answer := make(chan struct{}, 4), make(chan struct{})
	b.models.OnChat(func(llmtest.ChatRequest) llmtest.Reply {
		asked <- struct{}{}
		<-answer
		return llmtest.Text(`{"facts": []}`)
	})
	b.work(2)
	<-asked
	turns := []memory.Turn{waiting, b.accept("one"), b.accept("two")}
	<-asked
	select {
	case <-asked:
		t.Error("two workers process three turns at once")
	case <-time.After(20 * time.Millisecond):
	}
	close(answer)
	for _, turn := range turns {
		b.processed(turn)
	}
	list, err := b.store.ListJobs(t.Context(), db.JobFilter{Kinds: []string{ProcessTurn{}.Kind()}, Limit: 100})
	if err != nil || len(list) != 0 {
		t.Errorf("jobs %+v, %v", list, err)
	}
}

func TestWork_ClaimsTurnsOfADeadProcess(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	turn := b.accept("I keep bees")
	now := b.clock.Now()
	if _, err := b.store.ClaimTurns(t.Context(), now, now.Add(b.set.Lease), 1); err != nil {
		t.Fatal(err)
	}
	if ids := b.claimable(); len(ids) != 0 {
		t.Errorf("%q are due within the lease", ids)
	}
	b.clock.Advance(b.set.Lease)
	b.work(1)
	b.processed(turn)
}

func TestWork_RetriesTurnsWhenTheyAreDue(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.set.RetryDelay = 10 * time.Millisecond // also the poll interval
	var deferred sync.WaitGroup
	deferred.Add(1)
	var once sync.Once
	b.OnProcessed = func(context.Context, memory.Turn) { once.Do(deferred.Done) }
	b.models.SetDown(true)
	b.work(1)
	turn := b.accept("I keep bees")
	deferred.Wait()
	b.models.SetDown(false)
	b.clock.Advance(b.set.RetryDelay)
	b.processed(turn)
}

func TestReplay_WakesTheWorkers(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.set.Renew, b.set.RetryDelay = time.Hour, time.Hour // so that polling finds nothing within the test
	turn := b.accept("I keep bees")
	if err := b.store.FailTurn(t.Context(), turn.ID, 3, "gave up", b.clock.Now(), nil); err != nil {
		t.Fatal(err)
	}
	b.work(1)
	b.processed(b.accept("I keep cats")) // the first claim is over
	if _, err := b.Replay(t.Context(), ada.AppID, turn.ID); err != nil {
		t.Fatal(err)
	}
	b.processed(turn)
}

func TestRunLegacyJob_MakesTheTurnDue(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	turn := b.accept("I keep bees")
	if err := b.store.RenewTurns(t.Context(), []string{turn.ID}, b.clock.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second job finds a processed turn
		if err := b.RunLegacyJob(t.Context(), ProcessTurn{TurnID: turn.ID}); err != nil {
			t.Fatal(err)
		}
		stop := b.work(1)
		b.processed(turn)
		stop()
	}
	if err := b.RunLegacyJob(t.Context(), ProcessTurn{TurnID: memory.NewID()}); err != nil {
		t.Errorf("the job of a turn that is erased: %v", err)
	}
}

func TestWork_ReleasesTurnsThatTakeLongerThanTheDrain(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	asked := make(chan struct{}, 1)
	b.models.OnChat(func(llmtest.ChatRequest) llmtest.Reply {
		asked <- struct{}{}
		return llmtest.Hang()
	})
	drained := make(chan struct{})
	close(drained)
	b.Drained = drained
	stop := b.work(1)
	turn := b.acceptWhenIdle("I keep bees")
	<-asked
	stop()
	if ids := b.claimable(); !slices.Equal(ids, []string{turn.ID}) {
		t.Errorf("%q are due, want %s", ids, turn.ID)
	}
	if held := b.holding(); len(held) != 0 || len(b.idle) != 0 {
		t.Errorf("held %v, %d workers idle", held, len(b.idle))
	}
}

// ending is a database whose EndTurns can be held up.
type ending struct {
	Records
	call func(turns []db.EndedTurn) error
}

func (e *ending) EndTurns(ctx context.Context, turns []db.EndedTurn, at time.Time) error {
	if err := e.call(turns); err != nil {
		return err
	}
	return e.Records.EndTurns(ctx, turns, at)
}

// Turns that yield no memory end in batches, and are held until then. Those that cannot be
// ended are not scored again.
func TestWork_EndsTurnsWithoutMemoriesInBatches(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	entered, release := make(chan struct{}), make(chan error)
	var mu sync.Mutex
	var sizes []int
	b.Records = &ending{b.Records, func(turns []db.EndedTurn) error {
		mu.Lock()
		sizes = append(sizes, len(turns))
		first := len(sizes) == 1
		mu.Unlock()
		if first {
			close(entered)
			return <-release
		}
		return nil
	}}
	stop := b.work(1)
	first := b.acceptWhenIdle("one")
	<-entered
	for _, text := range []string{"two", "three", "four"} {
		b.acceptWhenIdle(text)
	}
	<-b.idle // when the last one is scored
	if held := b.holding(); len(held) != 4 {
		t.Errorf("%d turns are held, want all 4 that are not ended", len(held))
	}
	b.idle <- struct{}{}
	asked := b.models.Chats()
	release <- errors.New("not now")
	stop()
	if want := []int{1, 3}; !slices.Equal(sizes, want) || len(b.holding()) != 0 {
		t.Errorf("ended %v, want %v; held %v", sizes, want, b.holding())
	}
	if err := b.processTurn(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	b.processed(first)
	if b.models.Chats() != asked {
		t.Error("the scorer was asked again")
	}
}
