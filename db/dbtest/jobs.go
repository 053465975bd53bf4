package dbtest

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"
	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// testJob is a job whose handler ends as its Ending demands.
type testJob struct {
	Ending string `json:"ending"`
	Due    string `json:"due"`
}

func (testJob) Kind() string { return "dbtest_test" }

// otherJob has the payload of testJob and another kind.
type otherJob testJob

func (otherJob) Kind() string { return "dbtest_other" }

func enqueue(t *testing.T, s db.Store, job db.Job, fresh bool) db.JobInfo {
	t.Helper()
	info, isFresh, err := s.Enqueue(t.Context(), job)
	must(t, err)
	if isFresh != fresh {
		t.Errorf("enqueue %+v: fresh is %v", job, isFresh)
	}
	return info
}

// badJob cannot be written as JSON, so enqueueing it fails.
type badJob struct{ C chan int }

func (badJob) Kind() string { return "dbtest_bad" }

func enqueueJobs(t *testing.T, s db.Store) {
	first := enqueue(t, s, testJob{"well", "monday"}, true)
	if first.ID == 0 || first.EnqueuedAt.IsZero() || first.EnqueuedAt.Location() != time.UTC {
		t.Errorf("new job: %+v", first)
	}
	want := db.JobInfo{
		ID:         first.ID,
		Kind:       "dbtest_test",
		State:      "available",
		Payload:    first.Payload,
		EnqueuedAt: first.EnqueuedAt,
	}
	wantSame(t, "a new job", first, want)
	var payload testJob
	must(t, json.Unmarshal(first.Payload, &payload))
	wantSame(t, "payload", payload, testJob{"well", "monday"})
	found, err := s.Job(t.Context(), first.ID)
	must(t, err)
	wantSame(t, "the stored job", found, first)
	for _, unknown := range []int64{0, -1, first.ID + 1000} {
		_, err := s.Job(t.Context(), unknown)
		wantKind(t, err, memory.KindNotFound)
	}

	wantSame(t, "the same again", enqueue(t, s, testJob{"well", "monday"}, false).ID, first.ID)
	tuesday := enqueue(t, s, testJob{"well", "tuesday"}, true)
	other := enqueue(t, s, otherJob{"well", "monday"}, true)
	if _, _, err := s.Enqueue(t.Context(), badJob{}); err == nil {
		t.Error("a job that cannot be written as JSON was stored")
	}
	wantListed := func(f db.JobFilter, want ...int64) {
		t.Helper()
		found, err := s.ListJobs(t.Context(), f)
		must(t, err)
		listed := []int64{}
		for _, info := range found {
			listed = append(listed, info.ID)
		}
		wantSame(t, "jobs", listed, want)
	}
	both, one := []string{"dbtest_test", "dbtest_other"}, []string{"dbtest_test"}
	accepted(t, s, newTurn(alice, "")) // enqueues a job of another kind
	wantListed(db.JobFilter{Kinds: both, Limit: 10}, other.ID, tuesday.ID, first.ID)
	wantListed(db.JobFilter{Kinds: both, Limit: 2}, other.ID, tuesday.ID)
	wantListed(db.JobFilter{Kinds: both, Limit: 2, Before: tuesday.ID}, first.ID)
	wantListed(db.JobFilter{Kinds: one, Limit: 10}, tuesday.ID, first.ID)
	wantListed(db.JobFilter{Kinds: one, Limit: 10, Before: first.ID})
	wantListed(db.JobFilter{Kinds: []string{"unknown"}, Limit: memory.MaxPage})
	for kind, want := range map[string]int64{"dbtest_test": 2, "dbtest_other": 1, "unknown": 0} {
		waiting, err := s.WaitingJobs(t.Context(), kind)
		must(t, err)
		wantSame(t, "waiting jobs", waiting, want)
	}
}

func enqueueJobsAtOnce(t *testing.T, s db.Store) {
	const n = 10
	infos, freshes := make([]db.JobInfo, n), make([]bool, n)
	var group errgroup.Group
	for i := range n {
		group.Go(func() (err error) {
			infos[i], freshes[i], err = s.Enqueue(t.Context(), testJob{"well", "monday"})
			return err
		})
	}
	must(t, group.Wait())
	fresh := 0
	for i := range n {
		if freshes[i] {
			fresh++
		}
		wantSame(t, "the one job", infos[i].ID, infos[0].ID)
	}
	wantSame(t, "fresh ones", fresh, 1)
}

// jobStates runs jobs until each of them has reached its state.
func jobStates(t *testing.T, s db.Store) {
	states := map[string]string{ // ending -> state
		"well":        "completed",
		"cancelled":   "cancelled",
		"given up":    "discarded",
		"again later": "retryable",
		"never":       "running",
	}
	jobs := map[string]db.JobInfo{}
	for ending := range states {
		jobs[ending] = enqueue(t, s, testJob{ending, "monday"}, true)
	}
	runJobs(t, s)
	for ending, state := range states {
		info := jobs[ending]
		for deadline := time.Now().Add(5 * time.Minute); info.State != state; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the job that ends %q is %s after five minutes, want %s: %+v", ending, info.State, state, info)
			}
			var err error
			info, err = s.Job(t.Context(), info.ID)
			must(t, err)
		}
		ended := ending == "well" || ending == "cancelled" || ending == "given up"
		if ended == info.EndedAt.IsZero() || info.StartedAt.IsZero() || info.StartedAt.Location() != time.UTC ||
			info.Attempt < 1 {
			t.Errorf("%s: %+v", ending, info)
		}
		var result string
		if info.Result != nil {
			must(t, json.Unmarshal(info.Result, &result))
		}
		want := map[string][2]string{ // error, result
			"well": {"", "well"}, "cancelled": {"JobCancelError: the answer was cancelled", ""}, "never": {"", ""},
			"given up":    {fmt.Sprintf("attempt %d: the answer was given up", info.Attempt), ""}, // the latest attempt
			"again later": {"the answer was again later", ""},
		}
		wantSame(t, "error and result of "+ending, [2]string{info.Error, result}, want[ending])
		again := enqueue(t, s, testJob{ending, "monday"}, false)
		if again.ID != info.ID || again.State != state {
			t.Errorf("the same job as one that is %s: got %+v", state, again)
		}
		listed, err := s.ListJobs(t.Context(), db.JobFilter{Kinds: []string{"dbtest_test"}, Limit: 10})
		must(t, err)
		if !slices.ContainsFunc(listed, func(i db.JobInfo) bool { return i.ID == info.ID && i.State == state }) {
			t.Errorf("the list does not show the %s job", state)
		}
	}
}

// runJobs runs test jobs until the test ends.
func runJobs(t *testing.T, s db.Store) {
	t.Helper()
	switch s := s.(type) {
	case interface {
		Driver() riverdriver.Driver[pgx.Tx]
	}:
		startWorker(t, s.Driver())
	case interface {
		Driver() riverdriver.Driver[*sql.Tx]
	}:
		startWorker(t, s.Driver())
	}
}

func startWorker[TTx any](t *testing.T, driver riverdriver.Driver[TTx]) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(working context.Context, job *river.Job[testJob]) error {
		switch err := errors.New("the answer was " + job.Args.Ending); job.Args.Ending {
		case "well":
			return river.RecordOutput(working, "well")
		case "cancelled":
			return river.JobCancel(err)
		case "given up":
			return fmt.Errorf("attempt %d: %w", job.Attempt, err)
		case "never":
			<-ctx.Done()
			return ctx.Err()
		default:
			return err
		}
	}))
	client, err := river.NewClient(driver, &river.Config{
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 8}},
		Workers:           workers,
		RetryPolicy:       retryPolicy{},
		FetchCooldown:     5 * time.Millisecond,
		FetchPollInterval: 10 * time.Millisecond,
		Logger:            slog.New(slog.DiscardHandler),
	})
	must(t, err)
	must(t, client.Start(ctx))
	t.Cleanup(func() {
		stop()
		<-client.Stopped()
	})
}

// retryPolicy retries the jobs that end as "given up" at once, and others after a day.
type retryPolicy struct{}

func (retryPolicy) NextRetry(job *rivertype.JobRow) time.Time {
	if strings.Contains(string(job.EncodedArgs), "given up") {
		return time.Now()
	}
	return time.Now().AddDate(0, 0, 1)
}
