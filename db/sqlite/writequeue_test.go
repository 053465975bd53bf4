package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hippocampus/internal/memory"
)

// A writer whose context ends stops waiting while others still write.
func TestWriteQueue_AdmitsWritersInTheirOrder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(t.Context(), Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var group sync.WaitGroup
		release := make(chan struct{})
		group.Go(func() {
			if err := s.write(t.Context(), func(*sql.Tx) error { <-release; return nil }); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		var came, want []int
		for i := range 50 {
			want = append(want, i)
			group.Go(func() {
				if err := s.write(t.Context(), func(*sql.Tx) error { came = append(came, i); return nil }); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait() // until it waits in the queue
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		group.Go(func() { ended <- s.RenewTurns(ctx, nil, time.Now()) })
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) || !memory.IsKind(err, memory.KindUnavailable) {
			t.Errorf("a writer whose context ends gets %v", err)
		}
		close(release)
		group.Wait()
		if !slices.Equal(came, want) {
			t.Errorf("writers that came in order were admitted as %v", came)
		}
	})
}
