package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// announced is an outgoing event of a stream or a webhook.
type announced struct {
	ID     string
	Kind   string
	UserID string `json:"user_id"`
	Data   struct {
		Change, Content string
	}
}

func (e announced) String() string { return e.Kind + " " + e.Data.Change + " " + e.Data.Content }

// stream reads events until the test ends or the server does.
type stream struct {
	mu     sync.Mutex
	events []announced
	last   string // id to resume from
	ended  chan struct{}
}

func (s *server) stream(query, last string) *stream {
	s.t.Helper()
	q, err := http.NewRequestWithContext(s.t.Context(), "GET", s.address()+"/v1/events"+query, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+s.key)
	if last != "" {
		q.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil || res.StatusCode != 200 {
		s.t.Fatalf("the stream does not open: %v, %v", res, err)
	}
	s.t.Cleanup(func() { _ = res.Body.Close() })
	got := &stream{last: last, ended: make(chan struct{})}
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	go func() {
		defer close(got.ended)
		for scanner := bufio.NewScanner(res.Body); scanner.Scan(); {
			name, value, _ := strings.Cut(scanner.Text(), ": ")
			got.mu.Lock()
			switch name {
			case "id":
				got.last = value
				begin()
			case "data":
				var e announced
				_ = json.Unmarshal([]byte(value), &e)
				got.events = append(got.events, e)
			}
			got.mu.Unlock()
		}
	}()
	select {
	case <-begun:
	case <-got.ended:
		s.t.Fatal("the stream ends at once")
	}
	return got
}

// waitFor waits for n events and returns them.
func (g *stream) waitFor(t *testing.T, n int) (events []announced) {
	t.Helper()
	eventually(t, "the events", func() string {
		g.mu.Lock()
		defer g.mu.Unlock()
		if events = slices.Clone(g.events); len(events) < n {
			return fmt.Sprintf("%d of %d: %v", len(events), n, events)
		}
		return ""
	})
	return events
}

// inbox accepts deliveries, or refuses them while it is shut.
type inbox struct {
	*httptest.Server
	mu    sync.Mutex
	shut  bool
	calls int
	taken map[string]announced
}

func newInbox(t *testing.T) *inbox {
	b := &inbox{taken: map[string]announced{}}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.calls++
		if b.shut {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var e announced
		_ = json.Unmarshal(raw, &e)
		b.taken[e.ID] = e
	}))
	t.Cleanup(b.Close)
	return b
}

func (b *inbox) set(shut bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shut = shut
}

// A stream and a webhook announce every event, in spite of a kill and from two
// replicas, and an erasure removes the announcements.
func TestEvents_ReachStreamAndWebhook(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		to := newInbox(t)
		env := append(
			size.settings(t),
			"HIPPOCAMPUS_WEBHOOKS_ALLOW_PRIVATE=true",
			// Another process takes over the job of a killed one after twice the job timeout.
			"HIPPOCAMPUS_JOBS_TIMEOUT=4s",
			"HIPPOCAMPUS_CHAT_TIMEOUT=500ms",
			"HIPPOCAMPUS_CHAT_RETRIES=0",
		)
		s := start(t, env...)
		hook := s.call("POST", "/v1/webhooks",
			object{"url": to.URL, "kinds": []string{"memory.written", "memory.forgotten"}}, 201)
		first := s.stream("?user_id=ada", "")

		s.call("POST", "/v1/turns", turn("ada", "I work as a marine biologist in Lisbon."), 200)
		r := s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Likes tea."}, 201)
		id := r.body["id"].(string)
		s.call("PATCH", "/v1/memories/"+id, object{"content": "Likes green tea."}, 200)
		s.call("POST", "/v1/memories", object{"user_id": "bob", "content": "Is another."}, 201)
		s.call("DELETE", "/v1/memories/"+id, nil, 200)
		got := first.waitFor(t, 5)
		want := []string{
			"memory.written created I work as a marine biologist in Lisbon.", // the message, then the fact
			"memory.written created I work as a marine biologist in Lisbon.",
			"memory.written created Likes tea.", "memory.written updated Likes green tea.", "memory.forgotten forgotten ",
		}
		for i, e := range got {
			if e.String() != want[i] || e.UserID != "ada" {
				t.Errorf("event %d is %v of %s, want %s", i, e, e.UserID, want[i])
			}
		}
		delivered := func(n int) {
			t.Helper()
			eventually(t, "the deliveries", func() string {
				to.mu.Lock()
				defer to.mu.Unlock()
				if len(to.taken) < n {
					return fmt.Sprintf("%d of %d", len(to.taken), n)
				}
				return ""
			})
		}
		delivered(6)

		// The receiver and the process stop and start again.
		to.set(true)
		s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Was announced late."}, 201)
		eventually(t, "the failure", func() string {
			if r := s.call("GET", "/v1/webhooks/"+hook.body["id"].(string), nil, 200); r.body["failing_since"] == nil ||
				r.body["last_error"] != "answered with status 503" {
				return r.raw
			}
			return ""
		})
		first.waitFor(t, 6)
		s.kill()
		<-first.ended
		to.set(false)
		s.run()
		second := s.stream("?user_id=ada", first.last)
		other := s
		if size.name != "sqlite" { // another process may share the stores
			other = start(t, env...)
		}
		other.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Was announced by the other."}, 201)
		if got := second.waitFor(t, 1); len(got) != 1 || got[0].Data.Content != "Was announced by the other." {
			t.Errorf("after the kill %v", got)
		}
		delivered(8)
		all := s.stream("?after=0&kind=memory.written", "").waitFor(t, 7)
		to.mu.Lock()
		for _, e := range all {
			if to.taken[e.ID] != e {
				t.Errorf("%v was delivered as %v", e, to.taken[e.ID])
			}
		}
		to.mu.Unlock()

		receipt := s.erase("ada")
		if deleted, _ := receipt.body["deleted"].(map[string]any); deleted["announcements"] != 7.0 {
			t.Errorf("receipt %s", receipt.raw)
		}
		s.call("POST", "/v1/memories", object{"user_id": "bob", "content": "Is the last."}, 201)
		if left := s.stream("?after=0", "").waitFor(t, 2); len(left) != 2 || left[0].UserID != "bob" ||
			left[1].UserID != "bob" {
			t.Errorf("left after the erasure: %v", left)
		}
		s.stop() // open streams do not delay it
		<-second.ended
	})
}
