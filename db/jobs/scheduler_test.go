package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/db/postgres"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/db/sqlite"
	"hippocampus/db/sqlite/sqlitetest"
)

func TestMain(m *testing.M) {
	time.Local = time.FixedZone("UTC+8", 8*60*60)
	goleak.VerifyTestMain(m)
}

const testKind = "jobs_test_maintenance"

var midnight = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) // a Sunday

// queue stores jobs in memory, or returns err.
type queue struct {
	taken []string // "kind instant"
	err   error
}

func (q *queue) Enqueue(_ context.Context, job db.Job) (db.JobInfo, bool, error) {
	if q.err == nil {
		q.taken = append(q.taken, job.Kind()+" "+job.(tick).At.Format("02 15:04:05"))
	}
	return db.JobInfo{}, true, q.err
}

func (q *queue) want(t *testing.T, what string, ticks ...string) {
	t.Helper()
	if !slices.Equal(q.taken, ticks) {
		t.Errorf("%s: enqueued %q, want %q", what, q.taken, ticks)
	}
	q.taken = nil
}

func TestScheduler_TicksFollowTheClock(t *testing.T) {
	t.Parallel()
	clock, taken := midnight.Add(7*time.Minute), &queue{}
	s, err := NewScheduler(taken, func() time.Time { return clock }, zap.NewNop(),
		Maintenance{Kind: "daily", Schedule: "0 3 * * *"},
		Maintenance{Kind: "often", Schedule: "@every 15m"},
		Maintenance{Kind: "off"})
	if err != nil {
		t.Fatal(err)
	}
	at := func(what string, instant time.Time, ticks ...string) (wait time.Duration) {
		t.Helper()
		clock = instant
		wait = s.enqueue(t.Context())
		taken.want(t, what, ticks...)
		return wait
	}
	at("the start", clock)
	if wait := at("just before", midnight.Add(14*time.Minute+59*time.Second)); wait != time.Second {
		t.Errorf("wait is %s", wait)
	}
	at("a quarter", midnight.Add(15*time.Minute), "often 01 00:15:00")
	at("the same instant again", midnight.Add(15*time.Minute))
	at("late by seconds, in another zone",
		midnight.Add(30*time.Minute+4*time.Second).In(time.FixedZone("", 3600)), "often 01 00:30:00")
	at("two days later", midnight.AddDate(0, 0, 2).Add(4*time.Hour), "daily 03 03:00:00", "often 03 04:00:00")
	at("a clock set back", midnight.AddDate(0, 0, 2).Add(2*time.Hour+50*time.Minute))
	at("the same hour again", midnight.AddDate(0, 0, 2).Add(4*time.Hour))

	taken.err = errors.New("the database is unavailable")
	if wait := at("the database is unavailable", midnight.AddDate(0, 0, 3).Add(3*time.Hour)); wait != retryWait {
		t.Errorf("wait is %s", wait)
	}
	taken.err = nil
	at("the database is available again",
		midnight.AddDate(0, 0, 3).Add(3*time.Hour+5*time.Second), "daily 04 03:00:00", "often 04 03:00:00")
}

func TestNewScheduler_RejectsInvalidSchedules(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{"soon": "expected exactly 5 fields", "0 0 30 2 *": "never fires"} {
		_, err := NewScheduler(&queue{}, time.Now, zap.NewNop(), Maintenance{Kind: "daily", Schedule: expression})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"`+expression+`"`) {
			t.Errorf("%q: %v", expression, err)
		}
	}
}

// replica is a process that shares a database with others.
type replica struct {
	db.Store
	withOptions func(Options, ...Handler) (*Runner, error)
}

// runner returns a runner with the options of these tests.
func (r replica) runner(h ...Handler) (*Runner, error) { return r.withOptions(optionsOf(r), h...) }

var options = Options{
	Workers: 2,
	Poll:    10 * time.Millisecond,
	Timeout: time.Minute,
	Log:     slog.New(slog.DiscardHandler),
}

// optionsOf returns the options of a runner of a store's jobs.
func optionsOf(s db.Store) Options {
	o := options
	o.Processes = s
	return o
}

// databases creates an empty database by name; open returns another replica of it.
var databases = map[string]func(t *testing.T) (open func() replica){
	"sqlite": func(t *testing.T) func() replica {
		path := sqlitetest.Path(t)
		return func() replica {
			s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			return replica{s, func(o Options, h ...Handler) (*Runner, error) { return New(s.Driver(), o, h...) }}
		}
	},
	"postgres": func(t *testing.T) func() replica {
		url := postgrestest.URL(t)
		return func() replica {
			s, err := postgres.Open(t.Context(), postgres.Options{URL: url, MaxConns: 6})
			if err != nil {
				t.Fatal(err)
			}
			return replica{s, func(o Options, h ...Handler) (*Runner, error) { return New(s.Driver(), o, h...) }}
		}
	},
}

func TestScheduler_ReplicasRunEachTickOnce(t *testing.T) {
	t.Parallel()
	for name, fresh := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			clock, worked := midnight, []time.Time{}
			work := Maintenance{
				Kind:     testKind,
				Schedule: "@hourly",
				Timeout:  time.Minute,
				Work: func(_ context.Context, at time.Time) (any, error) {
					mu.Lock()
					defer mu.Unlock()
					worked = append(worked, at)
					return map[string]int{"users": len(worked)}, nil
				},
			}
			open := fresh(t)
			var schedulers []*Scheduler
			var first replica
			for i := range 3 {
				r := open()
				t.Cleanup(func() { _ = r.Close() })
				if i == 0 {
					first = r
					if err := r.Migrate(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				startRunner(t, r, work.Handler())
				s, err := NewScheduler(r, func() time.Time { return clock }, zap.NewNop(), work)
				if err != nil {
					t.Fatal(err)
				}
				schedulers = append(schedulers, s)
			}
			for hour := 1; hour <= 2; hour++ {
				clock = midnight.Add(time.Duration(hour) * time.Hour)
				var group errgroup.Group
				for i, s := range schedulers {
					group.Go(func() error {
						if wait := s.enqueue(t.Context()); wait != longestWait {
							return errors.New("the tick could not be enqueued")
						}
						return nil
					})
					if i == 1 && hour == 2 { // the third replica is late
						if err := group.Wait(); err != nil {
							t.Fatal(err)
						}
						waitForJobs(t, first, "completed", 2)
					}
				}
				if err := group.Wait(); err != nil {
					t.Fatal(err)
				}
				waitForJobs(t, first, "completed", hour)
			}
			done := waitForJobs(t, first, "completed", 2)
			mu.Lock()
			defer mu.Unlock()
			if want := []time.Time{midnight.Add(time.Hour), midnight.Add(2 * time.Hour)}; !slices.Equal(worked, want) {
				t.Errorf("ticks that ran: %v, want %v", worked, want)
			}
			var result struct{ Users int }
			if err := json.Unmarshal(done[0].Result, &result); err != nil || result.Users != 2 || done[0].Attempt != 1 {
				t.Errorf("the second job is %+v, %v", done[0], err)
			}
		})
	}
}

// migrated opens an empty database with the tables of jobs.
func migrated(t *testing.T, fresh func(t *testing.T) (open func() replica)) replica {
	t.Helper()
	r := fresh(t)()
	t.Cleanup(func() { _ = r.Close() })
	if err := r.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func startRunner(t *testing.T, r replica, handlers ...Handler) {
	t.Helper()
	runner, err := r.runner(handlers...)
	if err != nil {
		t.Fatal(err)
	}
	if err := runner.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = runner.Stop(context.Background()) })
}

// waitForJobs waits until there are exactly n jobs, all in the given state, and
// returns them, newest first.
func waitForJobs(t *testing.T, r replica, state string, n int) []db.JobInfo {
	t.Helper()
	var found []db.JobInfo
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		var err error
		if found, err = r.ListJobs(t.Context(), db.JobFilter{Kinds: []string{testKind}, Limit: 10}); err != nil {
			t.Fatal(err)
		}
		if len(found) == n && !slices.ContainsFunc(found, func(j db.JobInfo) bool { return j.State != state }) {
			return found
		}
	}
	t.Fatalf("the jobs are %+v, want %d in state %s", found, n, state)
	return nil
}

func TestMaintenance_FailureKeepsErrorAndResult(t *testing.T) {
	t.Parallel()
	r := migrated(t, databases["sqlite"])
	work := Maintenance{
		Kind:     testKind,
		Schedule: "@every 1s",
		Work: func(context.Context, time.Time) (any, error) {
			return map[string]int{"users": 3}, errors.New("the fourth user failed")
		},
	}
	startRunner(t, r, work.Handler())
	clock := midnight
	s, err := NewScheduler(r, func() time.Time { return clock }, zap.NewNop(), work)
	if err != nil {
		t.Fatal(err)
	}
	clock = clock.Add(time.Second)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); s.Run(ctx) }()
	failed := waitForJobs(t, r, "retryable", 1)[0]
	if failed.Error != "the fourth user failed" || failed.Attempt < 1 || !strings.Contains(string(failed.Result), "3") {
		t.Errorf("the failed job is %+v", failed)
	}
	stop()
	<-ended
}
