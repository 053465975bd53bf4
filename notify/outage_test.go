package notify

import (
	"context"
	"net/http"
	"testing"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// enqueued lists the jobs of the next announcements of each webhook that lags.
func enqueued(t *testing.T, r replica, now time.Time) (found []Deliver) {
	t.Helper()
	for n := 1; n > 0; {
		var err error
		n, err = r.EnqueueDeliveries(t.Context(), now, 10, func(w memory.Webhook, place memory.Place) db.Job {
			found = append(found, Deliver{WebhookID: w.ID, Activation: w.Activation, Place: place.String()})
			return found[len(found)-1]
		})
		must(t, err)
	}
	return found
}

// The failure of a delivery that was sent before a later one succeeded does not count against the webhook.
func TestSender_IgnoresALateFailureAfterASuccess(t *testing.T) {
	t.Parallel()
	r := databases["sqlite"](t)()
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	clock := began
	now := func() time.Time { return clock }
	set := local
	set.DisableAfter = 24 * time.Hour
	hooks, sender := NewWebhooks(r, set, now), NewSender(r, set, now, zap.NewNop())
	t.Cleanup(sender.Close)
	var second Deliver
	to := newReceiver(t, status(500), func(w http.ResponseWriter, _ *http.Request) {
		if err := sender.Work(context.Background(), second); err != nil {
			t.Errorf("the second delivery: %v", err)
		}
		w.WriteHeader(500)
	})
	w, err := hooks.Create(t.Context(), memory.Webhook{AppID: "app", URL: to.URL, Secret: secret, Active: true})
	must(t, err)
	for range 2 {
		tell(t, r, "u", began)
	}
	both := enqueued(t, r, now())
	first := both[0]
	second = both[1]
	if sender.Work(t.Context(), first) == nil {
		t.Error("the first delivery has arrived")
	}
	clock = began.Add(25 * time.Hour)
	if sender.Work(t.Context(), first) == nil {
		t.Log("the first delivery is given up for its age")
	}
	if w, err = hooks.Webhook(t.Context(), "app", w.ID); err != nil || !w.Active || w.Failing != (memory.Failing{}) {
		t.Errorf("after a success the webhook is %+v, %v", w, err)
	}
	if to.called() != 3 || len(to.ids()) != 1 {
		t.Errorf("%d calls, %d arrived", to.called(), len(to.ids()))
	}
}

// queued counts the jobs that deliver.
func queued(t *testing.T, r replica) int {
	t.Helper()
	found, err := r.ListJobs(t.Context(), db.JobFilter{Kinds: []string{Deliver{}.Kind()}, Limit: memory.MaxPage})
	must(t, err)
	return len(found)
}

// While a webhook fails, only its existing jobs try it; later announcements are enqueued when a job succeeds or no job
// is left.
func TestDispatcher_EnqueuesFewJobsDuringAnOutage(t *testing.T) {
	t.Parallel()
	r := databases["sqlite"](t)()
	clock := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := func() time.Time { return clock }
	hooks, sender := NewWebhooks(r, local, now), NewSender(r, local, now, zap.NewNop())
	t.Cleanup(sender.Close)
	dispatcher := NewDispatcher(r, local, now, zap.NewNop())
	to := newReceiver(t, status(500), status(500), status(500))
	_, err := hooks.Create(t.Context(), memory.Webhook{AppID: "app", URL: to.URL, Secret: secret, Active: true})
	must(t, err)
	tell(t, r, "u", clock)
	job := enqueued(t, r, now())[0]
	dispatch := func(what string, want int) {
		t.Helper()
		for range 10 {
			tell(t, r, "u", clock)
		}
		dispatcher.dispatch(t.Context())
		if n := queued(t, r); n != want {
			t.Errorf("%s there are %d jobs, want %d", what, n, want)
		}
	}
	for range 3 {
		if sender.Work(t.Context(), job) == nil {
			t.Fatal("the delivery has arrived")
		}
		dispatch("after a failure", 1)
		w, _, err := r.Delivery(t.Context(), job.WebhookID, place(t, job))
		must(t, err)
		clock = w.Failing.RetryAt
		dispatch("when it is to be tried", 1)
	}
	must(t, sender.Work(t.Context(), job))
	dispatch("once one has arrived", 71)

	fail := func() {
		t.Helper()
		w, _, err := r.Delivery(t.Context(), job.WebhookID, place(t, job))
		must(t, err)
		_, err = r.SettleDelivery(t.Context(), w, memory.Failing{Since: clock, LastError: "x",
			RetryAt: clock.Add(time.Second)}, time.Time{})
		must(t, err)
	}
	fail() // in a job whose user was erased since
	dispatch("while one might try", 71)
	clock = clock.Add(time.Second + untried)
	dispatch("when none has tried", 91)
}

func place(t *testing.T, job Deliver) memory.Place {
	t.Helper()
	p, ok := memory.ParsePlace(job.Place)
	if !ok {
		t.Fatalf("%q is no place", job.Place)
	}
	return p
}
