package hippocampus_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	hippocampus "hippocampus/sdk/go"
	"hippocampus/sdk/go/api"
)

// The connection is cut twice while memories are written, before and after the cut.
func TestEvents_ResumesAfterACutWithoutLossOrRepetition(t *testing.T) {
	t.Parallel()
	direct, line := newClient(t), newLine(t)
	user := uuid.NewString()
	remembers := func(content string) {
		request := hippocampus.MemoryRequest{UserID: user, Content: content}
		if _, err := direct.Remember(t.Context(), request); err != nil {
			t.Fatal(err)
		}
	}
	followed := newClient(t, hippocampus.WithURL("http://"+line.Addr().String()))
	events := make(chan hippocampus.Event, 100)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		for event, err := range followed.Events(ctx, hippocampus.StreamEventsParams{UserID: &user, After: new("0")}) {
			if err != nil {
				ended <- err
				return
			}
			events <- event
		}
	}()
	var want, got []string
	next := func() hippocampus.Event {
		select {
		case event := <-events:
			return event
		case <-time.After(time.Minute):
			t.Fatalf("no event came after %v", got)
			panic("unreachable")
		}
	}
	for i := range 9 {
		content := fmt.Sprintf("Likes tea number %d.", i)
		want = append(want, content)
		remembers(content)
		if i%3 == 1 {
			line.cut()
		}
		if i%3 != 2 {
			continue
		}
		for len(got) < len(want) {
			event := next()
			if event.Kind == hippocampus.EventReset {
				continue
			}
			if event.Kind != api.EventKindMemoryWritten || event.UserID != user || event.ID == "" {
				t.Fatalf("the event is %+v", event)
			}
			got = append(got, *event.Memory.Content)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the events are %v, not %v", got, want)
	}
	if line.cuts < 2 {
		t.Errorf("%d streams were cut", line.cuts)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the events end with %v", err)
	}
	if len(events) > 0 {
		t.Errorf("there is another event: %+v", <-events)
	}
}

// line forwards connections to the server, until they are cut.
type line struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
	cuts  int // connections that were cut
}

func newLine(t *testing.T) *line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{Listener: listener}
	t.Cleanup(func() { listener.Close(); l.cut() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", strings.TrimPrefix(os.Getenv("HIPPOCAMPUS_URL"), "http://"))
			if err != nil {
				near.Close()
				continue
			}
			l.mu.Lock()
			l.conns = append(l.conns, near, far)
			l.mu.Unlock()
			go io.Copy(near, far)
			go io.Copy(far, near)
		}
	}()
	return l
}

func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range l.conns {
		conn.Close()
	}
	l.cuts += len(l.conns) / 2
	l.conns = nil
}
