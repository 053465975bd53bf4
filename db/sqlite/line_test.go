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

// TestWritersStandInLine: writers are let in in the order in which they came, and one
// whose context ends leaves the line while others still write.
func TestWritersStandInLine(t *testing.T) {
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
			synctest.Wait() // it stands in line
		}
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error, 1)
		group.Go(func() { left <- s.RenewTurns(ctx, nil, time.Now()) })
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) || !memory.IsKind(err, memory.KindUnavailable) {
			t.Errorf("a writer whose context ends is told %v", err)
		}
		close(release)
		group.Wait()
		if !slices.Equal(came, want) {
			t.Errorf("writers that came in order were let in as %v", came)
		}
	})
}
