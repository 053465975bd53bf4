package postgres

import (
	"context"
	"errors"
	"testing"

	"hippocampus/internal/memory"
)

func TestOwnerLocks_DropUnusedLocks(t *testing.T) {
	t.Parallel()
	var locks ownerLocks
	alice, bob := memory.Owner{AppID: "app", UserID: "alice"}, memory.Owner{AppID: "app", UserID: "bob"}
	releaseAlice, err := locks.acquire(t.Context(), alice)
	if err != nil {
		t.Fatal(err)
	}
	releaseBob, err := locks.acquire(t.Context(), bob)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := locks.acquire(ended, alice); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}

	acquired := make(chan func())
	go func() {
		release, err := locks.acquire(t.Context(), alice)
		if err != nil {
			t.Error(err)
		}
		acquired <- release
	}()
	select {
	case <-acquired:
		t.Fatal("two writers of one owner at once")
	default:
	}
	releaseAlice()
	(<-acquired)()
	releaseBob()
	if len(locks.locks) != 0 {
		t.Errorf("%d locks are kept", len(locks.locks))
	}
}
