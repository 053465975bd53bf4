package app

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hippocampus/server/config"
)

// TestMain runs more tests at once than there are cores, since many wait for the timeouts of models.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

const (
	testKey  = "test-admin-key-of-the-app"
	longTime = 5 * time.Minute // a test waits this long before it fails
)

// buffer is a writer that can be read at the same time.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// devConfig configures a server on SQLite without authentication.
func devConfig(t *testing.T) config.Config {
	t.Helper()
	cfg := config.Default()
	cfg.Listen = "127.0.0.1:0"
	cfg.Data = t.TempDir()
	cfg.Dev = true
	return cfg
}

// instance is a running server.
type instance struct {
	t        *testing.T
	url      string
	client   *http.Client
	out, log buffer
	cancel   context.CancelFunc // begins the shutdown
	ended    chan error         // receives the result of Run
}

var address = regexp.MustCompile(`listening on (http://\S+)`)

// start runs a server and waits until it listens.
func start(t *testing.T, cfg config.Config) *instance {
	t.Helper()
	return startAt(t, cfg, standardPace)
}

// startAt starts a server whose background work has the given pace.
func startAt(t *testing.T, cfg config.Config, pace Pace) *instance {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &instance{t: t, client: &http.Client{}, cancel: cancel, ended: make(chan error, 1)}
	go func() { s.ended <- Run(ctx, cfg, Host{Out: &s.out, Err: &s.log, Now: time.Now, Pace: pace}) }()
	for deadline := time.Now().Add(longTime); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if m := address.FindStringSubmatch(s.out.String()); m != nil {
			s.url = m[1]
			return s
		}
		select {
		case err := <-s.ended:
			t.Fatalf("the server ended: %v", err)
		default:
		}
	}
	t.Fatal("the server does not listen")
	return nil
}

// stop shuts the server down and fails the test if that is not clean.
func (s *instance) stop() {
	s.t.Helper()
	s.client.CloseIdleConnections()
	s.cancel()
	if err := <-s.ended; err != nil {
		s.t.Fatalf("run ended with %v\n%s", err, s.log.String())
	}
}

func (s *instance) get(path string) string {
	s.t.Helper()
	return s.request(http.MethodGet, path, "")
}

func (s *instance) post(path, body string) string {
	s.t.Helper()
	return s.request(http.MethodPost, path, body)
}

// request returns the body of a successful response.
func (s *instance) request(method, path, body string) string {
	s.t.Helper()
	req, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testKey)
	req.Header.Set("Content-Type", "application/json")
	res, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode/100 != 2 {
		s.t.Fatalf("%s: %d %s %v", path, res.StatusCode, answer, err)
	}
	return string(answer)
}

func (s *instance) decode(text string, into any) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		s.t.Fatalf("%s: %v", text, err)
	}
}

// jobResult waits for a completed job of a kind and returns its result.
func (s *instance) jobResult(kind string) string {
	s.t.Helper()
	for deadline := time.Now().Add(longTime); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var list struct {
			Jobs []struct {
				State  string
				Result json.RawMessage
			}
		}
		s.decode(s.get("/v1/jobs?kind="+kind), &list)
		for _, job := range list.Jobs {
			if job.State == "completed" {
				return string(job.Result)
			}
		}
	}
	s.t.Fatalf("no job of the kind %s completes", kind)
	return ""
}
