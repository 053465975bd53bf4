package dbtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// announced reads the announcements that match f and waits until there are n. On
// Postgres an announcement becomes visible only after all older transactions of
// the server have ended, including those of other tests.
func announced(t *testing.T, s db.Store, f db.AnnouncementFilter, n int) []memory.Announcement {
	t.Helper()
	if f.Limit == 0 {
		f.Limit = memory.MaxPage
	}
	var found []memory.Announcement
	for range 3000 {
		var err error
		found, err = s.Announced(t.Context(), f)
		must(t, err)
		if len(found) >= n {
			return found
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%d announcements, want %d", len(found), n)
	return nil
}

// format renders an announcement without its place.
func format(a memory.Announcement) string {
	return fmt.Sprintf("%s/%s %s %s %s", a.AppID, a.UserID, a.Kind, a.At.Format(time.RFC3339), a.Data)
}

// announcements checks that each change is announced once, with the memory as written.
func announcements(t *testing.T, s db.Store) {
	ctx := t.Context()
	fact := newMemory(alice, "likes tea")
	insight := newMemory(alice, "is <calm>")
	purgedID := memory.NewID()
	insight.Type, insight.AgentID = memory.TypeReflection, ""
	changed := fact
	changed.Content, changed.Revision = "likes green tea", 2
	created := newEvent(insight.ID, memory.EventCreated, after(1))
	created.Detail = json.RawMessage(`{"sources": ["` + fact.ID + `"]}`)
	must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
		// The order of the calls does not matter: the announcements are made at the commit.
		must(t, tx.AddEvents(ctx, []memory.Event{
			newEvent(fact.ID, memory.EventCreated, epoch), created, newEvent(purgedID, memory.EventPurged, after(2)),
		}))
		must(t, tx.Insert(ctx, []memory.Memory{fact, insight}, time.Time{}))
		return tx.Announce(ctx, []memory.Announcement{
			{Kind: memory.ConversationEnded, At: after(3), Data: json.RawMessage(`{"conversation_id":"c"}`)},
		})
	}))
	errRefused := errors.New("no")
	if err := s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
		must(t, tx.AddEvents(ctx, []memory.Event{newEvent(fact.ID, memory.EventForgotten, after(4))}))
		return errRefused
	}); !errors.Is(err, errRefused) {
		t.Fatal(err)
	}
	must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
		must(t, tx.RestoreEvents(ctx, []memory.Event{newEvent(fact.ID, memory.EventMerged, after(-100))}))
		must(t, tx.Update(ctx, changed))
		return tx.AddEvents(ctx, []memory.Event{newEvent(fact.ID, memory.EventUpdated, after(5))})
	}))
	failed := newTurn(alice, "client")
	accepted(t, s, failed)
	must(t, s.FailTurn(ctx, failed.ID, 2, "unavailable", after(6), nil))
	must(t, s.FailTurn(ctx, failed.ID, 3, "late", after(7), nil)) // no longer accepted: no effect
	insert(t, s, time.Time{}, newMemory(memory.Owner{AppID: "app", UserID: "bob"}, "not announced"))

	var got []string
	all := announced(t, s, db.AnnouncementFilter{AppID: "app"}, 7)
	for _, a := range all {
		got = append(got, format(a))
	}
	const head = "app/alice "
	stamp := func(n int) string { return " " + after(n).Format(time.RFC3339) + " " }
	const importance = `"domain":"professional_and_academic","importance":0.8125,`
	const facts = `"status":"active","type":"fact",` + importance
	wantSame(t, "announcements", got, []string{
		head + "memory.written" + stamp(0) + `{"memory_id":"` + fact.ID +
			`","change":"created","cause":"api","agent_id":"agent","conversation_id":"conversation",` + facts +
			`"content":"likes tea"}`,
		head + "memory.written" + stamp(1) + `{"memory_id":"` + insight.ID +
			`","change":"created","cause":"api","conversation_id":"conversation","status":"active","type":"reflection",` +
			importance + `"content":"is \u003ccalm\u003e"}`,
		head + "reflection.created" + stamp(1) + `{"memory_id":"` + insight.ID +
			`","content":"is \u003ccalm\u003e","sources":["` + fact.ID + `"]}`,
		head + "memory.forgotten" + stamp(2) + `{"memory_id":"` + purgedID + `","change":"purged","cause":"api"}`,
		head + "conversation.ended" + stamp(3) + `{"conversation_id":"c"}`,
		head + "memory.written" + stamp(5) + `{"memory_id":"` + fact.ID +
			`","change":"updated","cause":"api","agent_id":"agent","conversation_id":"conversation",` + facts +
			`"content":"likes green tea"}`,
		head + "turn.failed" + stamp(6) + `{"turn_id":"` + failed.ID +
			`","client_id":"client","agent_id":"agent","attempts":2,"error":"unavailable"}`,
	}[:len(got)])
	wantSame(t, "count", len(got), 7)

	// Reading may continue after any place.
	for i := range all {
		rest := announced(t, s, db.AnnouncementFilter{
			AppID:  "app",
			UserID: "alice",
			After:  all[i].Place,
			Limit:  2,
		}, min(2, len(all)-1-i))
		wantSame(t, "page", rest, all[i+1:min(i+3, len(all))])
	}
	for _, f := range []db.AnnouncementFilter{
		{AppID: "other"},
		{AppID: "app", UserID: "bob"},
		{AppID: "alice", UserID: "app"},
	} {
		wantSame(t, "of another owner", announced(t, s, f, 0), []memory.Announcement{})
	}
	apps, through, err := s.AnnouncedApps(ctx, memory.Place{}, 100)
	must(t, err)
	wantSame(t, "apps", apps, []string{"app"})
	wantSame(t, "through", through, all[len(all)-1].Place)
	_, through, err = s.AnnouncedApps(ctx, memory.Place{}, 2)
	must(t, err)
	wantSame(t, "through two", through, all[1].Place)
	apps, same, err := s.AnnouncedApps(ctx, through, 0)
	must(t, err)
	wantSame(t, "nothing new", append(apps, same.String()), []string{through.String()})
}

// endedConversation checks that the end of a conversation is announced once.
func endedConversation(t *testing.T, s db.Store) {
	turn := newTurn(alice, "")
	turn.ConversationID = "talk"
	accepted(t, s, turn)
	for range 2 {
		_, _, err := s.EndConversation(t.Context(), conversation(t, s, alice, turn.ConversationID), after(9), "api")
		must(t, err)
	}
	must(t, s.FailTurn(t.Context(), turn.ID, 1, "", epoch, nil))
	all := announced(t, s, db.AnnouncementFilter{AppID: "app"}, 2)
	var kinds []memory.AnnouncementKind
	for _, a := range all {
		kinds = append(kinds, a.Kind)
	}
	wantSame(t, "kinds", kinds, []memory.AnnouncementKind{memory.ConversationEnded, memory.TurnGivenUp})
	var data struct {
		ID     string `json:"conversation_id"`
		Reason string `json:"reason"`
		Events int    `json:"events"`
	}
	must(t, json.Unmarshal(all[0].Data, &data))
	wantSame(t, "data", fmt.Sprintln(data, all[0].At), fmt.Sprintln(struct {
		ID, Reason string
		Events     int
	}{turn.ConversationID, "api", 2}, after(9)))
}

// announce commits a transaction that announces one purge, after(n).
func announce(ctx context.Context, s db.Store, owner memory.Owner, n int) error {
	return s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddEvents(ctx, []memory.Event{newEvent(memory.NewID(), memory.EventPurged, after(n))})
	})
}

// readersMissNothing checks that readers who continue from their last place get
// every announcement once and in the same order while many writers are active.
func readersMissNothing(t *testing.T, s db.Store) {
	const (
		writers = 6
		each    = 20
		readers = 3
	)
	done := make(chan struct{})
	var writing, reading errgroup.Group
	for w := range writers {
		writing.Go(func() error {
			for i := range each {
				if err := announce(t.Context(), s, memory.Owner{
					AppID:  "app",
					UserID: fmt.Sprint("user", w),
				}, 1000*w+i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	orders := make([][]string, readers)
	for r := range readers {
		reading.Go(func() error {
			place, ended := memory.Place{}, false
			for range 10_000 {
				page, err := s.Announced(t.Context(), db.AnnouncementFilter{AppID: "app", After: place, Limit: 3 + r})
				if err != nil {
					return err
				}
				for _, a := range page {
					if a.Place.Compare(place) <= 0 {
						return fmt.Errorf("place %s follows %s", a.Place, place)
					}
					place = a.Place
					orders[r] = append(orders[r], a.At.String())
				}
				if len(page) > 0 {
					continue
				}
				if ended && len(orders[r]) >= writers*each {
					return nil
				}
				select {
				case <-done:
					ended = true
				default:
				}
				time.Sleep(time.Millisecond)
			}
			return fmt.Errorf("reader %d got %d of %d announcements", r, len(orders[r]), writers*each)
		})
	}
	must(t, writing.Wait())
	close(done)
	must(t, reading.Wait())
	for r := range readers {
		wantSame(t, "order", orders[r], orders[0])
	}
	slices.Sort(orders[0])
	wantSame(t, "distinct announcements", len(slices.Compact(orders[0])), writers*each)
}

// purgeAnnouncements checks that purging starts with the oldest and moves the bounds.
func purgeAnnouncements(t *testing.T, s db.Store) {
	ctx := t.Context()
	for i := range 5 {
		must(t, announce(ctx, s, alice, i))
	}
	all := announced(t, s, db.AnnouncementFilter{AppID: "app"}, 5)
	purged, head, err := s.AnnouncedBounds(ctx)
	must(t, err)
	wantSame(t, "purged", purged, memory.Place{})
	if last := all[4].Place; head.Compare(last) < 0 {
		t.Errorf("the head %s is before %s", head, last)
	}
	for _, step := range []struct{ before, limit, purged, left int }{
		{before: 0, limit: 10, purged: 0, left: 5},
		{before: 3, limit: 2, purged: 2, left: 3},
		{before: 3, limit: 10, purged: 1, left: 2},
		{before: 3, limit: 10, purged: 0, left: 2},
	} {
		n, err := s.PurgeAnnouncements(ctx, after(step.before), step.limit)
		must(t, err)
		wantSame(t, "purged", n, step.purged)
		wantSame(t, "left", announced(t, s, db.AnnouncementFilter{AppID: "app"}, 0), all[5-step.left:])
	}
	purged, _, err = s.AnnouncedBounds(ctx)
	must(t, err)
	wantSame(t, "purged up to", purged, all[2].Place)
	_, err = s.PurgeAnnouncements(ctx, after(99), 10)
	must(t, err)
	must(t, announce(ctx, s, alice, 7)) // places are not reused
	if next := announced(t, s, db.AnnouncementFilter{AppID: "app"}, 1)[0].Place; next.Compare(all[4].Place) <= 0 {
		t.Errorf("place %s follows %s", next, all[4].Place)
	}
}

// everyAnnouncement calls each method of db.Announcements and db.Webhooks and
// returns their errors.
func everyAnnouncement(ctx context.Context, s db.Store) map[string]error {
	errs := map[string]error{}
	id := memory.NewID()
	_, errs["Announced"] = s.Announced(ctx, db.AnnouncementFilter{AppID: "app", Limit: 1})
	_, _, errs["AnnouncedApps"] = s.AnnouncedApps(ctx, memory.Place{}, 1)
	_, _, errs["AnnouncedBounds"] = s.AnnouncedBounds(ctx)
	_, errs["PurgeAnnouncements"] = s.PurgeAnnouncements(ctx, epoch, 1)
	errs["CreateWebhook"] = s.CreateWebhook(ctx, newWebhook("app", 0), 1000)
	_, errs["Webhook"] = s.Webhook(ctx, "app", id)
	_, errs["ListWebhooks"] = s.ListWebhooks(ctx, "app", nil, 1)
	_, errs["ChangeWebhook"] = s.ChangeWebhook(ctx, "app", id, func(*memory.Webhook) error { return nil })
	errs["DeleteWebhook"] = s.DeleteWebhook(ctx, "app", id)
	_, errs["EnqueueDeliveries"] = s.EnqueueDeliveries(ctx, epoch, 1, deliver)
	_, _, errs["Delivery"] = s.Delivery(ctx, id, memory.Place{})
	_, errs["SettleDelivery"] = s.SettleDelivery(ctx, memory.Webhook{ID: id, Activation: 1}, memory.Failing{}, time.Time{})
	return errs
}

// exerciseAnnouncements is Exercise for db.Announcements and db.Webhooks.
func exerciseAnnouncements(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	ctx := t.Context()
	page, err := s.Announced(ctx, db.AnnouncementFilter{AppID: owner.AppID, UserID: owner.UserID, Limit: 5})
	must(t, err)
	_, err = s.Announced(ctx, db.AnnouncementFilter{AppID: owner.AppID, After: page[0].Place, Limit: 5})
	must(t, err)
	_, _, err = s.AnnouncedApps(ctx, page[0].Place, 100)
	must(t, err)
	_, err = s.PurgeAnnouncements(ctx, epoch, 100)
	must(t, err)
	w := newWebhook(owner.AppID, 0)
	must(t, s.CreateWebhook(ctx, w, 1000))
	must(t, announce(ctx, s, owner, 1))
	for n := 0; n == 0; {
		n, err = s.EnqueueDeliveries(ctx, epoch, 100, deliver)
		must(t, err)
	}
	_, _, err = s.Delivery(ctx, w.ID, page[0].Place)
	must(t, err)
}
