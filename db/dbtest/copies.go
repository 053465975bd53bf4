package dbtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// copies checks that AwaitCopies waits for copies in progress, which run at the same time.
func copies(t *testing.T, s db.Store) {
	must(t, s.AwaitCopies(t.Context()))
	failed := errors.New("failed")
	if err := s.Copy(t.Context(), func(context.Context) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("a failed copy returned %v", err)
	}
	begun, end, ended := make(chan bool), make(chan bool), make(chan error)
	for range 2 {
		go func() {
			ended <- s.Copy(t.Context(), func(context.Context) error {
				begun <- true
				<-end
				return nil
			})
		}()
	}
	<-begun
	<-begun
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.AwaitCopies(short); !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("during two copies: %v", err)
	}
	end <- true
	must(t, <-ended)
	awaited := make(chan error)
	go func() { awaited <- s.AwaitCopies(t.Context()) }()
	select {
	case err := <-awaited:
		t.Errorf("during one copy: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	end <- true
	must(t, <-ended)
	must(t, <-awaited)
}
