package ingest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

// unknownDue is a database that cannot find the turn that is due first.
type unknownDue struct{ Records }

func (unknownDue) LongestDue(context.Context) (time.Time, error) {
	return time.Time{}, errors.New("the database is unavailable")
}

func TestLag_RefusesTurnsBeyondIt(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.set.MaxLag = time.Minute
	waiting := b.accept("waits for a worker")
	b.clock.Advance(time.Minute)
	b.measureLag(t.Context())
	b.accept("at the limit")

	b.clock.Advance(time.Second)
	b.measureLag(t.Context())
	_, _, err := b.Accept(t.Context(), memory.Turn{Owner: ada})
	var refused *memory.Error
	if !errors.As(err, &refused) || refused.Kind != memory.KindTooFast || refused.RetryAfter == 0 ||
		refused.Limit != "jobs.max_lag" || !strings.Contains(err.Error(), "1m1s") {
		t.Fatalf("%v", err)
	}
	records := b.Records
	b.Records = unknownDue{records}
	b.measureLag(t.Context())
	if b.Lag() != time.Minute+time.Second {
		t.Errorf("a lag of %s after a measurement that failed", b.Lag())
	}
	b.Records = records

	due := b.clock.Now().Add(time.Hour) // the turns wait for a model
	for _, id := range b.claimable() {
		if err := b.store.DeferTurn(t.Context(), id, 0, "unavailable", due, nil); err != nil {
			t.Fatal(err)
		}
	}
	b.measureLag(t.Context())
	b.accept("accepted again")
	if outcome := b.outcome(waiting.ID); outcome.Turn.Status != memory.TurnAccepted {
		t.Errorf("%+v", outcome.Turn)
	}
}

func TestLag_IsMeasuredDuringWork(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.Records = withoutClaims{b.Records}
	b.set.Renew = 10 * time.Millisecond
	b.accept("no worker takes it")
	b.clock.Advance(time.Hour)
	b.work(1)
	for deadline := time.Now().Add(time.Minute); b.Lag() != time.Hour; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("a lag of %s, want 1h", b.Lag())
		}
	}
}
