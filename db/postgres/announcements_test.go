package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/db"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
)

// A transaction that has written holds back announcements that others commit
// later. A transaction that has only begun does not.
func TestAnnounced_KeepsTheOrderOfTransactions(t *testing.T) {
	t.Parallel()
	s := open(t, postgrestest.URL(t))
	// begin starts a transaction, and returns when it has written or is about to write.
	begin := func(user string, writes bool) (commit func()) {
		t.Helper()
		ready := make(chan struct{})
		release := make(chan struct{})
		ended := make(chan error, 1)
		go func() {
			ended <- s.InUser(t.Context(), memory.Owner{AppID: "app", UserID: user},
				func(ctx context.Context, tx db.UserTx) error {
					if writes {
						if err := tx.SetState(ctx, db.UserState{ReflectedAt: time.Unix(1, 0)}); err != nil {
							return err
						}
					}
					close(ready)
					<-release
					return tx.AddEvents(ctx,
						[]memory.Event{{ID: memory.NewID(), MemoryID: memory.NewID(), Kind: memory.EventPurged, At: time.Unix(1, 0)}})
				})
		}()
		<-ready
		let := sync.OnceFunc(func() { close(release) })
		t.Cleanup(let)
		return func() {
			t.Helper()
			let()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
		}
	}
	var place memory.Place // of a reader that continues where it stopped
	next := func() (users []string) {
		t.Helper()
		page, err := s.Announced(t.Context(), db.AnnouncementFilter{AppID: "app", After: place, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range page {
			users, place = append(users, a.UserID), a.Place
		}
		return users
	}
	// waitFor reads until all have arrived. Other transactions of the server may also
	// hold them back.
	waitFor := func(want ...string) {
		t.Helper()
		var got []string
		for deadline := time.Now().Add(5 * time.Minute); len(got) < len(want); time.Sleep(5 * time.Millisecond) {
			got = append(got, next()...)
			if time.Now().After(deadline) {
				t.Fatalf("read %q, want %q", got, want)
			}
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("read %q, want %q", got, want)
			}
		}
	}

	older, younger := begin("older", true), begin("younger", true)
	younger()
	if got := next(); len(got) > 0 {
		t.Fatalf("%q is shown, while an older transaction may still commit before it", got)
	}
	older()
	waitFor("older", "younger")

	idle, writer := begin("idle", false), begin("writer", true)
	writer()
	waitFor("writer")
	idle()
	waitFor("idle")
}

// A database that was restored into another server has rows and places with greater numbers than that server's
// transactions.
func TestPurgeAnnouncements_DropsThoseOfAnotherServer(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	s := open(t, url)
	tell := func(user string) {
		t.Helper()
		err := s.InUser(t.Context(), memory.Owner{AppID: "app", UserID: user}, func(ctx context.Context, tx db.UserTx) error {
			return tx.AddEvents(ctx,
				[]memory.Event{{ID: memory.NewID(), MemoryID: memory.NewID(), Kind: memory.EventPurged, At: time.Unix(1000, 0)}})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	tell("foreign")
	hook := memory.Webhook{ID: memory.NewID(), AppID: "app", URL: "https://example.com", Secret: "0123456789abcdef",
		Active: true, Activation: 1, CreatedAt: time.Unix(1, 0), UpdatedAt: time.Unix(1, 0)}
	if err := s.CreateWebhook(t.Context(), hook, 1); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	for _, sql := range []string{
		`UPDATE announcements SET xact = 1::bigint << 60`, `UPDATE webhooks SET after_xact = 1::bigint << 60`,
		`UPDATE announcements_purged SET xact = 1::bigint << 60`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	tell("ours")
	if _, err := s.PurgeAnnouncements(t.Context(), time.Unix(1, 0), 100); err != nil {
		t.Fatal(err)
	}
	if purged, _, err := s.AnnouncedBounds(t.Context()); err != nil || purged != (memory.Place{}) {
		t.Errorf("purged up to %s, %v", purged, err)
	}
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		n, err := s.EnqueueDeliveries(t.Context(), time.Unix(1, 0), 10, func(w memory.Webhook, p memory.Place) db.Job {
			return restored{}
		})
		if err != nil || n > 1 || time.Now().After(deadline) {
			t.Fatalf("passed %d, %v", n, err)
		}
		if n == 1 {
			return
		}
	}
}

type restored struct{}

func (restored) Kind() string { return "postgres_test_restored" }
