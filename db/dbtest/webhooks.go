package dbtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// delivery is the job that delivers an announcement to a webhook.
type delivery struct {
	Webhook    string `json:"webhook_id"`
	Activation int    `json:"activation"`
	Place      string `json:"place"`
}

func (delivery) Kind() string { return "dbtest_deliver" }

func deliver(w memory.Webhook, place memory.Place) db.Job {
	return delivery{w.ID, w.Activation, place.String()}
}

func newWebhook(appID string, at int) memory.Webhook {
	return memory.Webhook{
		ID: memory.NewID(), AppID: appID, URL: "https://example.com/hook?a=1", Secret: "0123456789abcdef",
		Kinds: []memory.AnnouncementKind{memory.MemoryForgotten, memory.TurnGivenUp}, Active: true, Activation: 1,
		CreatedAt: after(at), UpdatedAt: after(at),
	}
}

func webhooks(t *testing.T, s db.Store) {
	ctx := t.Context()
	first := newWebhook("app", 1)
	second := newWebhook("app", 2)
	other := newWebhook("other", 3)
	second.Kinds = nil
	second.Active = false
	second.Activation = 0
	for _, w := range []memory.Webhook{first, second, other} {
		must(t, s.CreateWebhook(ctx, w, 2))
		got, err := s.Webhook(ctx, w.AppID, w.ID)
		must(t, err)
		wantSame(t, "webhook", got, w)
	}
	wantKind(t, s.CreateWebhook(ctx, newWebhook("app", 4), 2), memory.KindConflict)
	page, err := s.ListWebhooks(ctx, "app", nil, 10)
	must(t, err)
	wantSame(t, "webhooks of the app", page, []memory.Webhook{second, first})
	page, err = s.ListWebhooks(ctx, "app", &db.Position{At: second.CreatedAt, ID: second.ID}, 1)
	must(t, err)
	wantSame(t, "the next page", page, []memory.Webhook{first})

	changed, err := s.ChangeWebhook(ctx, "app", first.ID, func(w *memory.Webhook) error {
		w.URL = "http://example.org"
		w.Kinds = nil
		w.Active = false
		w.DisabledAt = after(8)
		w.UpdatedAt = after(9)
		w.Failing = memory.Failing{Since: after(5), LastError: "status 500\x00", RetryAt: after(6)}
		return nil
	})
	must(t, err)
	changed.Failing.LastError = "status 500\uFFFD"
	got, err := s.Webhook(ctx, "app", first.ID)
	must(t, err)
	wantSame(t, "changed", got, changed)
	refused := memory.Errorf(memory.KindConflict, "no")
	_, err = s.ChangeWebhook(ctx, "app", first.ID, func(w *memory.Webhook) error { w.URL = "lost"; return refused })
	wantKind(t, err, memory.KindConflict)

	for _, unknown := range []string{other.ID, memory.NewID(), "no id", ""} {
		_, err = s.Webhook(ctx, "app", unknown)
		wantKind(t, err, memory.KindNotFound)
		_, err = s.ChangeWebhook(ctx, "app", unknown, func(*memory.Webhook) error {
			t.Error("a webhook of another app was changed")
			return nil
		})
		wantKind(t, err, memory.KindNotFound)
		wantKind(t, s.DeleteWebhook(ctx, "app", unknown), memory.KindNotFound)
	}
	must(t, s.DeleteWebhook(ctx, "app", first.ID))
	wantKind(t, s.DeleteWebhook(ctx, "app", first.ID), memory.KindNotFound)
	must(t, s.CreateWebhook(ctx, newWebhook("app", 4), 2))
}

// enqueueUntil enqueues deliveries until n announcements have been processed and
// returns the jobs, oldest first.
func enqueueUntil(t *testing.T, s db.Store, now, n int) []delivery {
	t.Helper()
	for processed := 0; processed < n; {
		some, err := s.EnqueueDeliveries(t.Context(), after(now), 2, deliver)
		must(t, err)
		processed += some
		if some == 0 {
			time.Sleep(10 * time.Millisecond) // see announced
		}
	}
	return deliveries(t, s)
}

func deliveries(t *testing.T, s db.Store) (all []delivery) {
	t.Helper()
	found, err := s.ListJobs(t.Context(), db.JobFilter{Kinds: []string{delivery{}.Kind()}, Limit: memory.MaxPage})
	must(t, err)
	for _, j := range slices.Backward(found) {
		var d delivery
		must(t, json.Unmarshal(j.Payload, &d))
		all = append(all, d)
	}
	return all
}

func enqueueDeliveries(t *testing.T, s db.Store) {
	ctx := t.Context()
	early := newWebhook("app", 1)
	must(t, s.CreateWebhook(ctx, early, 10))
	turn := newTurn(alice, "")
	turn.ConversationID = "talk"
	accepted(t, s, turn)
	must(t, announce(ctx, s, alice, 1))
	// the webhook does not subscribe to it
	_, _, err := s.EndConversation(ctx, conversation(t, s, alice, turn.ConversationID), epoch, "api")
	must(t, err)
	must(t, announce(ctx, s, memory.Owner{AppID: "other", UserID: "alice"}, 2))
	must(t, announce(ctx, s, alice, 3))
	all := announced(t, s, db.AnnouncementFilter{AppID: "app"}, 3)
	late := newWebhook("app", 2) // gets later announcements only
	late.Kinds = nil
	must(t, s.CreateWebhook(ctx, late, 10))
	want := []delivery{{early.ID, 1, all[0].Place.String()}, {early.ID, 1, all[2].Place.String()}}
	wantSame(t, "jobs", enqueueUntil(t, s, 1, 3), want)
	n, err := s.EnqueueDeliveries(ctx, after(1), 100, deliver)
	must(t, err)
	wantSame(t, "processed again", n, 0)

	w, a, err := s.Delivery(ctx, early.ID, all[2].Place)
	must(t, err)
	wantSame(t, "the webhook", w, early)
	wantSame(t, "the announcement", a, all[2])
	foreign := announced(t, s, db.AnnouncementFilter{AppID: "other"}, 1)[0]
	for _, place := range []memory.Place{foreign.Place, {Commit: 1 << 40, Seq: 1 << 40}, {}} {
		_, _, err = s.Delivery(ctx, early.ID, place)
		wantKind(t, err, memory.KindNotFound)
	}
	_, _, err = s.Delivery(ctx, "no id", all[2].Place)
	wantKind(t, err, memory.KindNotFound)

	// A failing webhook gets no deliveries before its RetryAt.
	settle := func(tried memory.Webhook, f memory.Failing, disabled time.Time, want memory.Webhook) {
		t.Helper()
		before, err := s.Webhook(ctx, "app", early.ID)
		must(t, err)
		changed, err := s.SettleDelivery(ctx, tried, f, disabled)
		must(t, err)
		got, err := s.Webhook(ctx, "app", early.ID)
		must(t, err)
		wantSame(t, "the settled webhook", got, want)
		wantSame(t, "changed", changed, !cmp.Equal(before, got))
	}
	again := early
	again.Activation = 2
	settle(again, memory.Failing{Since: after(10)}, after(10), early)
	failing := early
	failing.Failing = memory.Failing{Since: after(10), LastError: "status 500", RetryAt: after(20)}
	settle(early, failing.Failing, time.Time{}, failing)
	settle(early, memory.Failing{
		Since:     after(11),
		LastError: "of the same time",
		RetryAt:   after(21),
	}, time.Time{}, failing)
	must(t, s.DeleteWebhook(ctx, "app", late.ID))
	must(t, announce(ctx, s, alice, 4))
	fourth := announced(t, s, db.AnnouncementFilter{AppID: "app"}, 4)[3]
	n, err = s.EnqueueDeliveries(ctx, after(19), 100, deliver)
	must(t, err)
	wantSame(t, "processed while failing", n, 0)
	want = append(want, delivery{early.ID, 1, fourth.Place.String()})
	wantSame(t, "jobs after RetryAt", enqueueUntil(t, s, 20, 1), want)
	failing.Failing.LastError, failing.Failing.RetryAt = "status 502", after(30)
	settle(failing, failing.Failing, time.Time{}, failing)
	settle(failing, memory.Failing{}, time.Time{}, early)
	settle(failing, memory.Failing{Since: after(10), LastError: "sent before"}, after(31), early)
	disabled := failing
	disabled.Failing = memory.Failing{Since: after(40), LastError: "x"}
	disabled.Active = false
	disabled.DisabledAt = after(50)
	settle(early, disabled.Failing, after(50), disabled)
	settle(disabled, memory.Failing{}, time.Time{}, disabled)
	must(t, announce(ctx, s, alice, 5))
	announced(t, s, db.AnnouncementFilter{AppID: "app"}, 5)
	n, err = s.EnqueueDeliveries(ctx, after(99), 100, deliver)
	must(t, err)
	wantSame(t, "processed while disabled", n, 0)
	_, err = s.ChangeWebhook(ctx, "app", early.ID, func(w *memory.Webhook) error {
		w.Active = true
		w.Activation = 2
		w.Failing = memory.Failing{}
		w.DisabledAt = time.Time{}
		return nil
	})
	must(t, err)
	must(t, announce(ctx, s, alice, 6))
	sixth := announced(t, s, db.AnnouncementFilter{AppID: "app"}, 6)[5]
	wantSame(t, "jobs when it is active again", enqueueUntil(t, s, 99, 1),
		append(want, delivery{early.ID, 2, sixth.Place.String()}))
}

// enqueueDeliveriesAtOnce checks that concurrent dispatchers enqueue each
// announcement once per webhook while writers are active.
func enqueueDeliveriesAtOnce(t *testing.T, s db.Store) {
	const hooks, each = 3, 20
	var group errgroup.Group
	for i := range hooks {
		must(t, s.CreateWebhook(t.Context(), newWebhook("app", i), 10))
	}
	for w := range 2 {
		group.Go(func() error {
			for i := range each {
				if err := announce(t.Context(), s, memory.Owner{AppID: "app", UserID: fmt.Sprint("user", w)}, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for range 3 {
		group.Go(func() error {
			for idle := 0; idle < 100; idle++ {
				n, err := s.EnqueueDeliveries(t.Context(), epoch, 7, deliver)
				if err != nil {
					return err
				}
				if n > 0 {
					idle = 0
				}
			}
			return nil
		})
	}
	must(t, group.Wait())
	all := announced(t, s, db.AnnouncementFilter{AppID: "app"}, 2*each)
	for range 3000 { // see announced
		n, err := s.EnqueueDeliveries(t.Context(), epoch, 7, deliver)
		must(t, err)
		if n == 0 {
			break
		}
	}
	got := map[delivery]int{}
	for _, d := range deliveries(t, s) {
		got[d]++
	}
	wantSame(t, "distinct jobs", len(got), hooks*len(all))
	for d, n := range got {
		if n != 1 {
			t.Errorf("%d jobs %+v", n, d)
		}
	}
}
