package ownerlock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"hippocampus/internal/memory"
)

func TestLocks_DropUnusedLocks(t *testing.T) {
	t.Parallel()
	var locks Locks
	alice, bob := memory.Owner{AppID: "app", UserID: "alice"}, memory.Owner{AppID: "app", UserID: "bob"}
	releaseAlice, err := locks.Acquire(t.Context(), alice)
	if err != nil {
		t.Fatal(err)
	}
	releaseBob, err := locks.Acquire(t.Context(), bob)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := locks.Acquire(ended, alice); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}

	acquired := make(chan func())
	go func() {
		release, err := locks.Acquire(t.Context(), alice)
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

func TestLocks_BoundThoseWhoWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		locks := Locks{MaxWaiting: 2}
		owner := memory.Owner{AppID: "app", UserID: "alice"}
		acquired := make(chan func(), 3)
		for range 3 {
			go func() {
				release, err := locks.Acquire(t.Context(), owner)
				if err != nil {
					t.Error(err)
				}
				acquired <- release
			}()
		}
		synctest.Wait()
		if _, err := locks.Acquire(t.Context(), owner); !errors.Is(err, ErrCrowded) || len(acquired) != 1 {
			t.Errorf("%v while %d have the lock", err, len(acquired))
		}
		for range 3 {
			(<-acquired)()
		}
		release, err := locks.Acquire(t.Context(), owner)
		if err != nil {
			t.Fatal(err)
		}
		release()
	})
}
