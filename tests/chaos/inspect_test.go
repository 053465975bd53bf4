package main

import (
	"io"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"hippocampus/cmd/bench/target"
)

// A real server is written to without faults. The checker accepts that, and finds a
// memory that is forgotten, and one that is written, by requests which are not in the
// ledger.
func TestInspect_FindsUnrecordedChanges(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k, err := start(ctx, options{size: target.Small, servers: 1}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.close(); err != nil {
			t.Error(err)
		}
	})
	client := NewClient(k.addresses(), target.Key)
	w := &writer{
		users: []string{"user00", "user01"}, erasing: map[string]bool{}, x: Expect(nil), random: rand.New(rand.NewPCG(1, 1)),
		client: client, ledger: &Ledger{out: io.Discard}, limiter: rate.NewLimiter(rate.Inf, 1), stopping: ctx,
	}
	for _, user := range w.users {
		for _, a := range actions {
			for range 3 {
				a.do(w, ctx, user)
			}
		}
		w.writeMemory(ctx, user)
	}
	entries := w.ledger.Entries()
	violations, _, err := settle(ctx, k, client, Expect(entries), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range append(violations, w.ledger.Blamed()...) {
		t.Error(v)
	}

	last := entries[len(entries)-1]
	if a := client.Do(ctx, http.MethodDelete, "/v1/memories/"+last.ID, nil); a.status != http.StatusOK {
		t.Fatalf("status %d: %s", a.status, a.text())
	}
	violations, err = inspect(ctx, k, client, Expect(entries), w.users)
	if err != nil {
		t.Fatal(err)
	}
	expectBlamed(t, violations, last.Object+" of user01: another value")

	again := fields{"user_id": "user00", "content": w.content(last.Object, "1"), "tags": []string{last.Object}}
	if a := client.Do(ctx, http.MethodPost, "/v1/memories", again); a.status != http.StatusCreated {
		t.Fatalf("status %d: %s", a.status, a.text())
	}
	violations, err = inspect(ctx, k, client, Expect(entries), w.users)
	if err != nil {
		t.Fatal(err)
	}
	expectBlamed(t, violations, last.Object+" of user01: doubled")
	expectBlamed(t, violations, "another user's data: user00 has it")
}
