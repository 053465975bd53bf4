package reflection

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// noticed checks each user whose memories changed, and returns the resulting jobs.
func (b *fixture) noticed() []db.JobInfo {
	b.t.Helper()
	for len(b.check) > 0 {
		if err := b.enqueue(b.t.Context(), <-b.check); err != nil {
			b.t.Fatal(err)
		}
	}
	jobs, err := b.store.ListJobs(b.t.Context(), db.JobFilter{Kinds: []string{ReflectUser{}.Kind()}, Limit: 100})
	if err != nil {
		b.t.Fatal(err)
	}
	return jobs
}

func TestRun_EnqueuesOneJobForManyWrites(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	b.addFacts(4)
	b.MemoriesChanged(ada)
	if jobs := b.noticed(); len(jobs) != 0 {
		t.Fatalf("a job though none is due: %+v", jobs)
	}
	b.addFacts(1)
	for range 3 {
		b.MemoriesChanged(ada)
	}
	jobs := b.noticed()
	if len(jobs) != 1 {
		t.Fatalf("jobs %+v", jobs)
	}
	var job ReflectUser
	if err := json.Unmarshal(jobs[0].Payload, &job); err != nil || job.AppID != "app" || job.UserID != "ada" {
		t.Fatalf("payload %s, %v", jobs[0].Payload, err)
	}
	b.chat.Answers(`{"insights":[{"insight":"Ada swims.","sources":[1,2]}],"retire":[1,2]}`)
	if result, err := b.Work(t.Context(), job); err != nil || result != (Totals{Users: 1, Insights: 1, Retired: 2}) {
		t.Errorf("%+v, %v", result, err)
	}
	if result, err := b.Work(t.Context(), job); err != nil || result != (Totals{Users: 1, Skipped: 1}) {
		t.Errorf("again: %+v, %v", result, err)
	}
	// The next reflection is another job.
	b.addFacts(5)
	b.MemoriesChanged(ada)
	b.clock.Advance(time.Hour)
	if jobs := b.noticed(); len(jobs) != 2 {
		t.Errorf("jobs %+v", jobs)
	}
}

func TestRun_EnqueuesUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	b.addFacts(5)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); b.Run(ctx) }()
	b.MemoriesChanged(ada)
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Millisecond) {
		jobs, err := b.store.ListJobs(t.Context(), db.JobFilter{Kinds: []string{ReflectUser{}.Kind()}, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(jobs) == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no job was enqueued")
		}
	}
	stop()
	<-ended
}

func TestMemoriesChanged_NeverBlocks(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	for range 2 * maxChecks { // without a receiver
		b.MemoriesChanged(ada)
	}
	if len(b.check) != maxChecks {
		t.Errorf("%d wait", len(b.check))
	}
	b.Chat = nil
	<-b.check
	b.MemoriesChanged(ada)
	if len(b.check) != maxChecks-1 {
		t.Error("without a model there is nothing to look for")
	}
}

func TestReflectAll_ReflectsForEveryUser(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	b.addFacts(5)
	b.chat.OnPrompt(func(llm.Prompt) (string, error) { return "nonsense", nil })
	totals, err := b.ReflectAll(t.Context())
	if !memory.IsKind(err, memory.KindBadAnswer) || totals != (Totals{Users: 1, Failed: 1}) {
		t.Errorf("%+v, %v", totals, err)
	}
	b.chat.OnPrompt(func(llm.Prompt) (string, error) {
		return "", memory.Errorf(memory.KindUnavailable, "it is unavailable")
	})
	if _, err := b.ReflectAll(t.Context()); !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("%v", err)
	}
	b.chat.Answers(`{"insights":[{"insight":"Ada swims.","sources":[1,2,3]}],"retire":[1,2,3]}`)
	if totals, err := b.ReflectAll(t.Context()); err != nil || totals != (Totals{Users: 1, Insights: 1, Retired: 3}) {
		t.Errorf("%+v, %v", totals, err)
	}
	if totals, err := b.ReflectAll(t.Context()); err != nil || totals != (Totals{Users: 1, Skipped: 1}) {
		t.Errorf("%+v, %v", totals, err)
	}
	b.Chat = nil
	if totals, err := b.ReflectAll(t.Context()); err != nil || totals != (Totals{}) {
		t.Errorf("without a model: %+v, %v", totals, err)
	}
}

// erasedAfterFacts begins an erasure of the user after the facts were read, and also ends it if ends is set.
type erasedAfterFacts struct {
	Records
	b    *fixture
	ends bool
}

func (r erasedAfterFacts) Facts(
	ctx context.Context, owner memory.Owner, since time.Time, limit int,
) ([]memory.Memory, error) {
	facts, err := r.Records.Facts(ctx, owner, since, limit)
	now := r.b.clock.Now()
	e, failure := r.b.store.BeginErasure(ctx, owner, now, now.Add(time.Hour), ReflectUser{AppID: "none", UserID: "none"})
	for r.ends && failure == nil {
		var some db.ErasedSome
		if some, failure = r.b.store.EraseSome(ctx, e, db.EraseStep{Now: now, Limit: 100}); some.Deleted.Memories == 0 {
			_, failure = r.b.store.EndErasure(ctx, e, now, 0)
			break
		}
	}
	if failure != nil {
		r.b.t.Error(failure)
	}
	return facts, err
}

func TestRun_EnqueuesNoJobForAnErasedUser(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]bool{"being erased": false, "erased": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, defaults)
			b.addFacts(5)
			b.Records = erasedAfterFacts{b.Records, b, ends}
			b.MemoriesChanged(ada)
			for _, j := range b.noticed() {
				var job ReflectUser
				if err := json.Unmarshal(j.Payload, &job); err != nil || job.UserID == ada.UserID {
					t.Errorf("a job names the user: %s, %v", j.Payload, err)
				}
			}
		})
	}
}
