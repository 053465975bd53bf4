package postgres

import (
	"context"
	"errors"
	"testing"

	"hippocampus/internal/memory"
)

// TestOwnersAreForgotten: nothing is kept of an owner whose writers have left or given up.
func TestOwnersAreForgotten(t *testing.T) {
	t.Parallel()
	var o owners
	alice, bob := memory.Owner{AppID: "app", UserID: "alice"}, memory.Owner{AppID: "app", UserID: "bob"}
	leaveAlice, err := o.enter(t.Context(), alice)
	if err != nil {
		t.Fatal(err)
	}
	leaveBob, err := o.enter(t.Context(), bob)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := o.enter(ended, alice); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}

	entered := make(chan func())
	go func() {
		leave, err := o.enter(t.Context(), alice)
		if err != nil {
			t.Error(err)
		}
		entered <- leave
	}()
	select {
	case <-entered:
		t.Fatal("two writers of one owner at once")
	default:
	}
	leaveAlice()
	(<-entered)()
	leaveBob()
	if len(o.doors) != 0 {
		t.Errorf("%d owners are kept", len(o.doors))
	}
}
