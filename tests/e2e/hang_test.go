package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hippocampus/db/postgres/postgrestest"
)

// A Postgres that hangs keeps connections open and answers nothing, for as long as the test lasts. Every request is
// answered with 503 all the same, and the locks of a server that vanished in the middle of its writes are free again.
func TestDatabase_HangIsReported(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	proxy := postgrestest.NewProxy(t, url)
	byDefault := "HIPPOCAMPUS_DATABASE_TIMEOUT=4s"
	s := start(t, slices.Concat(unwaiting, []string{"DATABASE_URL=" + proxy.URL, byDefault})...)
	said := s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Ada lives in Lisbon"}, 201)
	id := said.body["id"].(string)
	s.call("POST", "/v1/turns", turn("ada", "I work as a marine biologist."), 200)
	var batch []object // of a user each
	for i := range 12 {
		batch = append(batch, object{"user_id": fmt.Sprint("user-", i), "content": "Keeps bees"})
	}
	var several []any
	stored := s.call("POST", "/v1/memories/batch", object{"memories": batch}, 200)
	for _, result := range stored.body["results"].([]any) {
		several = append(several, result.(map[string]any)["id"])
	}

	exported := s.call("GET", "/v1/export?user_id=user-1", nil, 200).raw
	line := exported[strings.Index(exported, "\n")+1:] // a memory
	line = line[:strings.Index(line, "\n")+1]
	header := exported[:strings.Index(exported, "\n")+1]
	lines := header // of a user each, so that an import that waited for each line would take twelve timeouts
	for i := range 12 {
		lines += strings.ReplaceAll(strings.ReplaceAll(line, "user-1", fmt.Sprint("other-", i)), "Keeps", "Has kept")
	}

	var writers sync.WaitGroup
	var written atomic.Int64
	hung := make(chan struct{})
	for i := range 4 { // so that Postgres hangs in the middle of transactions
		writers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-hung:
					return
				default:
					content := fmt.Sprintf("Ada knows %d and %d", i, n)
					_, _ = s.try("POST", "/v1/memories", object{"user_id": "ada", "content": content})
					written.Add(1)
				}
			}
		})
	}
	eventually(t, "writes", func() string {
		if n := written.Load(); n < 20 {
			return fmt.Sprint(n)
		}
		return ""
	})
	proxy.Hang()
	close(hung)
	requests := []struct {
		method, path string
		body         any
	}{
		{"POST", "/v1/turns", turn("ada", "I like skiing.")},
		{"POST", "/v1/recall", object{"user_id": "ada", "query": "Where does Ada live?"}},
		{"POST", "/v1/context", object{"user_id": "ada", "query": "Where does Ada live?"}},
		{"POST", "/v1/memories", object{"user_id": "ada", "content": "Ada likes tea"}},
		{"POST", "/v1/memories", object{"user_id": "ada", "content": "Ada likes coffee"}},
		{"POST", "/v1/memories", object{"user_id": "bob", "content": "Bob likes coffee"}},
		{"POST", "/v1/forget", object{"user_id": "ada"}},
		{"POST", "/v1/memories/forget", object{"ids": several}},
		{"POST", "/v1/memories/restore", object{"ids": several}},
		{"POST", "/v1/memories/batch", object{"memories": batch}},
		{"GET", "/v1/memories?user_id=ada", nil},
		{"GET", "/v1/memories/" + id, nil},
		{"DELETE", "/v1/memories/" + id, nil},
		{"GET", "/v1/turns?user_id=ada", nil},
		{"GET", "/v1/candidates?user_id=ada", nil},
		{"GET", "/v1/jobs", nil},
		{"GET", "/v1/stats", nil},
		{"GET", "/v1/export?user_id=ada", nil},
		{"PUT", "/v1/facts", object{"user_id": "ada", "type": "home", "key": "city", "value": "Porto"}},
		{"POST", "/v1/import", lines},
		{"POST", "/v1/admin/rebuild", nil},
		{"POST", "/v1/users/user-2/rename", object{"to": "user-2b"}},
		{"POST", "/v1/users/user-3/clone", object{"into": "user-3b"}},
		{"DELETE", "/v1/users/ada", nil},
		{"GET", "/readyz", nil},
	}
	const longest = 12 * 4 * time.Second / 2 // half as long as twelve items that wait for the database one by one
	var group sync.WaitGroup
	for _, request := range requests {
		group.Go(func() {
			began := time.Now()
			r, err := s.try(request.method, request.path, request.body)
			if err != nil || r.status != 503 {
				t.Errorf("%s %s: status %d, %v after %s, want 503: %s",
					request.method, request.path, r.status, err, time.Since(began), r.raw)
			}
			if took := time.Since(began); took > longest {
				t.Errorf("%s %s was answered after %s", request.method, request.path, took)
			}
		})
	}
	group.Wait()
	writers.Wait()
	s.call("GET", "/healthz", nil, 200)
	s.kill() // behind the proxy, which does not pass it on

	other := start(t, "DATABASE_URL="+url, byDefault)
	began := time.Now()
	eventually(t, "the user's lock being free", func() string {
		r := other.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Ada likes tea"}, 201, 503)
		if r.status == 503 {
			return r.raw
		}
		return ""
	})
	t.Logf("the user's lock was free after %s", time.Since(began))
	if r := other.call("GET", "/v1/memories/"+id, nil, 200); r.body["status"] != "active" {
		t.Errorf("a memory is %s", r.raw)
	}
}

// A server whose Postgres hangs ends within api.shutdown_timeout, with writes, turns and jobs under way.
func TestDatabase_HangDelaysNoShutdown(t *testing.T) {
	t.Parallel()
	proxy := postgrestest.NewProxy(t, postgrestest.URL(t))
	s := start(t, slices.Concat(unwaiting,
		[]string{"DATABASE_URL=" + proxy.URL, "HIPPOCAMPUS_DATABASE_TIMEOUT=1m", "HIPPOCAMPUS_API_SHUTDOWN_TIMEOUT=3s"})...)
	s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Ada lives in Lisbon"}, 201)
	proxy.Hang()
	var waiting sync.WaitGroup
	for range 4 {
		waiting.Go(func() {
			_, _ = s.try("POST", "/v1/memories", object{"user_id": "ada", "content": "Ada likes tea"})
		})
		waiting.Go(func() { _, _ = s.try("POST", "/v1/turns", turn("ada", "I like skiing.")) })
	}
	eventually(t, "a failing part", func() string {
		if r, err := s.try("GET", "/readyz", nil); err == nil && r.status != 503 {
			return r.raw
		}
		return ""
	})
	began := time.Now()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-s.exited:
		s.exited <- err
	case <-time.After(waitLimit):
		t.Fatalf("the server did not end within %s\n%s", waitLimit, s.printed())
	}
	if took := time.Since(began); took > 10*time.Second { // a pool waits 15 s for the end of each connection
		t.Errorf("the server ended after %s, want 3 s", took)
	}
	waiting.Wait()
}
