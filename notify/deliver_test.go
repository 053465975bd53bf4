package notify

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/db/postgres"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/db/sqlite"
	"hippocampus/db/sqlite/sqlitetest"
	"hippocampus/internal/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "a secret of sixteen or more bytes"

// replica is a process that shares a database with others.
type replica struct {
	db.Store
	runner func(jobs.Options, ...jobs.Handler) (*jobs.Runner, error)
}

// databases opens replicas of a fresh database, by the database's name.
var databases = map[string]func(t *testing.T) (open func() replica){
	"sqlite": func(t *testing.T) func() replica {
		path := sqlitetest.Path(t)
		return func() replica {
			s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
			return opened(t, s, err, func(o jobs.Options, h ...jobs.Handler) (*jobs.Runner, error) {
				o.Processes = s
				return jobs.New(s.Driver(), o, h...)
			})
		}
	},
	"postgres": func(t *testing.T) func() replica {
		url := postgrestest.URL(t)
		return func() replica {
			s, err := postgres.Open(t.Context(), postgres.Options{URL: url, MaxConns: 6})
			return opened(t, s, err, func(o jobs.Options, h ...jobs.Handler) (*jobs.Runner, error) {
				o.Processes = s
				return jobs.New(s.Driver(), o, h...)
			})
		}
	},
}

func opened(t *testing.T, s db.Store, err error, runner func(jobs.Options, ...jobs.Handler) (*jobs.Runner,
	error)) replica {
	t.Helper()
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	must(t, s.Migrate(t.Context()))
	return replica{s, runner}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tell stores one announcement for a user of "app".
func tell(t *testing.T, s db.Store, user string, at time.Time) {
	t.Helper()
	must(t, s.InUser(t.Context(), memory.Owner{AppID: "app", UserID: user}, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddEvents(ctx, []memory.Event{{ID: memory.NewID(), MemoryID: memory.NewID(), Kind: memory.EventPurged,
			Cause: "test", At: memory.Instant(at)}})
	}))
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !f(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come true", what)
		}
	}
}

var local = Settings{Poll: 10 * time.Millisecond, Timeout: 500 * time.Millisecond, DisableAfter: time.Hour,
	AllowPrivate: true}

// work dispatches and delivers in one replica until stop is called.
func work(t *testing.T, r replica) (stop func()) {
	t.Helper()
	sender := NewSender(r, local, time.Now, zap.NewNop())
	runner, err := r.runner(jobs.Options{
		Workers: 1, Poll: 10 * time.Millisecond, Timeout: time.Minute, Log: slog.New(slog.DiscardHandler),
	}, jobs.Handle(sender.Work))
	must(t, err)
	must(t, runner.Start(t.Context()))
	ctx, end := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { NewDispatcher(r, local, time.Now, zap.NewNop()).Run(ctx) })
	stop = sync.OnceFunc(func() {
		end()
		group.Wait()
		_ = runner.Stop(context.Background())
		sender.Close()
	})
	t.Cleanup(stop)
	return stop
}

// Two replicas deliver everything despite faults of the receiver, and one continues alone.
func TestSender_DeliversEverything(t *testing.T) {
	t.Parallel()
	for name, fresh := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := fresh(t)
			first, second := open(), open()
			to := newReceiver(t, status(500), hang, hangUp, status(302), status(404))
			hooks := NewWebhooks(first, local, time.Now)
			w, err := hooks.Create(t.Context(), memory.Webhook{AppID: "app", URL: to.URL, Secret: secret, Active: true})
			must(t, err)
			stop := work(t, first)
			work(t, second)
			var group sync.WaitGroup
			for user := range 3 {
				group.Go(func() {
					for range 10 {
						tell(t, first, fmt.Sprint("user", user), time.Now())
					}
				})
			}
			group.Wait()
			eventually(t, "the first deliveries", func() bool { return len(to.ids()) > 5 })
			stop()
			for range 5 {
				tell(t, second, "late", time.Now())
			}
			all, err := second.Announced(t.Context(), db.AnnouncementFilter{AppID: "app", Limit: 100})
			must(t, err)
			eventually(t, "every delivery", func() bool { return len(to.ids()) == 35 })
			for _, a := range all {
				if !slices.Contains(to.ids(), a.Place.String()) {
					t.Errorf("%s was not delivered", a.Place)
				}
			}
			eventually(t, "the webhook being well", func() bool {
				w, err = hooks.Webhook(t.Context(), "app", w.ID)
				return err == nil && w.Active && w.Failing == memory.Failing{}
			})
		})
	}
}

// The waits grow with the time of failing. After a day the webhook is disabled; enabled again, it receives later
// announcements.
func TestSender_DisablesAWebhookThatFailsForADay(t *testing.T) {
	t.Parallel()
	r := databases["sqlite"](t)()
	clock := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := func() time.Time { return clock }
	set := local
	set.DisableAfter = 24 * time.Hour
	to := newReceiver(t, slices.Repeat([]func(http.ResponseWriter, *http.Request){status(500)}, 6)...)
	hooks, sender := NewWebhooks(r, set, now), NewSender(r, set, now, zap.NewNop())
	t.Cleanup(sender.Close)
	w, err := hooks.Create(t.Context(), memory.Webhook{AppID: "app", URL: to.URL, Secret: secret, Active: true})
	must(t, err)
	next := func() (job Deliver) {
		t.Helper()
		n, err := r.EnqueueDeliveries(t.Context(), now(), 1, func(w memory.Webhook, place memory.Place) db.Job {
			job = Deliver{WebhookID: w.ID, Activation: w.Activation, Place: place.String()}
			return job
		})
		must(t, err)
		if n != 1 {
			t.Fatal("nothing was enqueued")
		}
		return job
	}
	state := func() memory.Webhook {
		t.Helper()
		w, err := hooks.Webhook(t.Context(), "app", w.ID)
		must(t, err)
		return w
	}
	tell(t, r, "u", clock)
	job, began := next(), clock
	for _, step := range []struct{ after, wait time.Duration }{
		{0, time.Second}, {time.Second, time.Second}, {10 * time.Minute, 5 * time.Minute}, {10 * time.Hour, time.Hour},
		{24*time.Hour - time.Second, time.Hour},
	} {
		clock = began.Add(step.after)
		calls := to.called()
		if err := sender.Work(t.Context(), job); err == nil {
			t.Errorf("after %s the job ends", step.after)
		}
		if w := state(); to.called() != calls+1 || !w.Active ||
			w.Failing != (memory.Failing{Since: began, LastError: "answered with status 500", RetryAt: clock.Add(step.wait)}) {
			t.Errorf("after %s: %d calls, %+v", step.after, to.called(), w)
		}
		clock = clock.Add(step.wait - time.Millisecond)
		if err := sender.Work(t.Context(), job); err == nil || to.called() != calls+1 {
			t.Errorf("after %s it is tried too early", step.after)
		}
	}
	clock = began.Add(25 * time.Hour)
	must(t, sender.Work(t.Context(), job))
	if w := state(); w.Active || !w.DisabledAt.Equal(clock) || !w.Failing.Since.Equal(began) || w.Failing.LastError == "" {
		t.Errorf("after a day %+v", w)
	}
	tell(t, r, "u", clock)
	calls, yes := to.called(), true
	must(t, sender.Work(t.Context(), job))
	if to.called() != calls {
		t.Error("a webhook that is off is called")
	}
	w, err = hooks.Change(t.Context(), "app", w.ID, Change{Active: &yes})
	must(t, err)
	if w.Activation != 2 || !w.Active || w.Failing != (memory.Failing{}) || !w.DisabledAt.IsZero() ||
		!w.UpdatedAt.Equal(clock) {
		t.Errorf("switched on %+v", w)
	}
	must(t, sender.Work(t.Context(), job))
	if to.called() != calls {
		t.Error("what was waiting before is sent")
	}
	tell(t, r, "v", clock)
	job = next()
	must(t, sender.Work(t.Context(), job))
	if !slices.Equal(to.ids(), []string{job.Place}) || state().Failing != (memory.Failing{}) {
		t.Errorf("delivered %q, %+v", to.ids(), state())
	}
	must(t, hooks.DeleteWebhook(t.Context(), "app", w.ID))
	must(t, sender.Work(t.Context(), job))
	if to.called() != calls+1 {
		t.Error("a deleted webhook is called")
	}
}

// A delivery that fails for a day is given up, while the webhook accepts other deliveries.
func TestSender_GivesUpADeliveryThatFailsForADay(t *testing.T) {
	t.Parallel()
	r := databases["sqlite"](t)()
	clock := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := func() time.Time { return clock }
	to := newReceiver(t, status(500))
	hooks, sender := NewWebhooks(r, local, now), NewSender(r, local, now, zap.NewNop())
	t.Cleanup(sender.Close)
	w, err := hooks.Create(t.Context(), memory.Webhook{AppID: "app", URL: to.URL, Secret: secret, Active: true})
	must(t, err)
	tell(t, r, "u", clock.Add(-local.DisableAfter))
	all, err := r.Announced(t.Context(), db.AnnouncementFilter{AppID: "app", Limit: 1})
	must(t, err)
	must(t, sender.Work(t.Context(), Deliver{WebhookID: w.ID, Activation: 1, Place: all[0].Place.String()}))
	if w, err = hooks.Webhook(t.Context(), "app", w.ID); err != nil || !w.Active || w.Failing.Since.IsZero() {
		t.Errorf("%+v, %v", w, err)
	}
}

// No delivery reaches a private address, by number or name, or follows a redirect.
func TestSender_RefusesPrivateAddresses(t *testing.T) {
	t.Parallel()
	r := databases["sqlite"](t)()
	elsewhere := newReceiver(t)
	redirecting := newReceiver(t, func(w http.ResponseWriter, q *http.Request) {
		http.Redirect(w, q, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	tell(t, r, "u", time.Now())
	all, err := r.Announced(t.Context(), db.AnnouncementFilter{AppID: "app", Limit: 1})
	must(t, err)
	strict := local
	strict.AllowPrivate = false
	for _, c := range []struct {
		set       Settings
		url, want string
	}{
		{strict, elsewhere.URL, "the host has no public address: webhooks.allow_private would allow it"},
		{strict, strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1), "the host has no public address"},
		{local, redirecting.URL, "answered with status 307"},
	} {
		sender := NewSender(r, c.set, time.Now, zap.NewNop())
		w, err := NewWebhooks(r, c.set, time.Now).Create(t.Context(),
			memory.Webhook{AppID: "app", URL: c.url, Secret: secret, Active: true})
		must(t, err)
		if err := sender.Work(t.Context(), Deliver{WebhookID: w.ID, Activation: 1,
			Place: all[0].Place.String()}); err == nil {
			t.Errorf("%s: the job ends", c.url)
		}
		w, err = r.Webhook(t.Context(), "app", w.ID)
		must(t, err)
		port := c.url[strings.LastIndex(c.url, ":"):]
		if !strings.Contains(w.Failing.LastError, c.want) || strings.Contains(w.Failing.LastError, port) ||
			strings.Contains(w.Failing.LastError, "127.0.0.1") {
			t.Errorf("%s: %q, want %q", c.url, w.Failing.LastError, c.want)
		}
		sender.Close()
	}
	if n := elsewhere.called(); n != 0 {
		t.Errorf("%d requests arrived", n)
	}
}
