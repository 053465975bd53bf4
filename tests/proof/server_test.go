package proof

import (
	"bytes"
	"context"
	"flag"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hippocampus/db"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/server/app"
	"hippocampus/server/config"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/milvus/milvustest"
)

// TestMain runs all parallel tests at once, since they wait for stores and clocks
// more than they compute.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "32"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// size is one of the two sizes of an installation.
type size struct {
	name  string
	large bool
}

var sizes = []size{{"sqlite", false}, {"postgres+milvus", true}}

// pace is that of every server. Dozens of servers poll at the same time, so that shorter intervals take longer.
var pace = app.Pace{
	Jobs: 500 * time.Millisecond, Pushes: 250 * time.Millisecond,
	Touches: 2 * time.Millisecond, TurnRetry: 50 * time.Millisecond,
}

// settings returns the settings of a size, with stores of the test's own and without schedules.
func settings(t *testing.T, size size, models *llmtest.Server) config.Config {
	t.Helper()
	cfg := config.Default()
	cfg.Listen = "127.0.0.1:0"
	cfg.Data = t.TempDir()
	cfg.Dev = true
	cfg.Schedule = config.Schedule{Timeout: time.Hour}
	cfg.Chat.APIKey = "key"
	cfg.Chat.BaseURL = models.URL()
	cfg.Embedding.APIKey = "key"
	cfg.Embedding.BaseURL = models.URL()
	cfg.Embedding.Model = space.Model
	cfg.Embedding.Dimension = space.Dim
	// Nothing times out because the machine stalls. A failed push would wait for the clock, which stands
	// still. The bound of a push is three quarters of the lease.
	cfg.Jobs.Lease = 10 * time.Minute
	cfg.Chat.Timeout = time.Minute
	cfg.Embedding.Timeout = time.Minute
	cfg.API.ShutdownTimeout = time.Minute
	cfg.API.RateLimit = 0 // it counts requests by the clock, which stands still while a test waits
	cfg.API.WaitTimeout = 90 * time.Second
	cfg.Recall.Timeout = 5 * time.Minute
	cfg.Router.Timeout = time.Minute
	cfg.Database.Timeout = time.Minute
	if !size.large {
		return cfg
	}
	host, port, err := net.SplitHostPort(milvustest.Addr(t))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Database.URL = postgrestest.URL(t)
	cfg.Milvus.Host = host
	cfg.Milvus.Collection = milvustest.Collection(t)
	cfg.Milvus.Partitions = milvustest.Partitions
	if cfg.Milvus.Port, err = strconv.Atoi(port); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// server is a server in this process, with the test's own connections to its stores.
type server struct {
	t     *testing.T
	cfg   config.Config
	clock *clock
	wrap  func(db.Store, vectorstore.Store) (db.Store, vectorstore.Store) // nil: no wrapper

	records db.Store
	vectors vectorstore.Store

	client *http.Client
	url    string
	log    buffer
	cancel context.CancelFunc // nil: the server is stopped
	ended  chan error
}

// startServer starts a server with a size's settings, changed by change, and
// stops it at the end of the test.
func startServer(t *testing.T, size size, models *llmtest.Server, change func(*config.Config)) *server {
	t.Helper()
	return startFaulty(t, size, models, change, nil)
}

// startFaulty starts a server whose stores are wrapped.
func startFaulty(t *testing.T, size size, models *llmtest.Server, change func(*config.Config),
	wrap func(db.Store, vectorstore.Store) (db.Store, vectorstore.Store)) *server {
	t.Helper()
	s := &server{
		t: t, cfg: settings(t, size, models), clock: &clock{at: birth}, wrap: wrap,
		client: &http.Client{Timeout: waitLimit, Transport: &http.Transport{MaxIdleConnsPerHost: 200}},
	}
	change(&s.cfg)
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			text := s.log.String()
			t.Logf("the end of the server's log:\n%s", text[max(0, len(text)-5000):])
		}
	})
	s.start()
	s.records, s.vectors = openStores(t, s.cfg)
	return s
}

var listening = regexp.MustCompile(`listening on (http://\S+)`)

// start starts or restarts the server, and waits until it listens. If a store is
// unavailable it starts the server again, as an operator would.
func (s *server) start() {
	s.t.Helper()
	out := s.run()
	eventually(s.t, "the server's listening", func() string {
		if m := listening.FindStringSubmatch(out.String()); m != nil {
			s.url = m[1]
			return ""
		}
		select {
		case err := <-s.ended:
			s.cancel = nil
			if !memory.IsKind(err, memory.KindUnavailable) {
				s.t.Fatalf("the server did not start: %v\n%s", err, s.log.String())
			}
			out = s.run()
			return err.Error()
		default:
		}
		return "it has printed " + strconv.Quote(out.String())
	})
}

func (s *server) run() (out *buffer) {
	ctx, cancel := context.WithCancel(context.Background())
	out, ended := &buffer{}, make(chan error, 1)
	s.cancel, s.ended = cancel, ended
	go func() {
		ended <- app.Run(ctx, s.cfg, app.Host{Out: out, Err: &s.log, Now: s.clock.now, Pace: pace, Wrap: s.wrap})
	}()
	return out
}

// stop ends the server, if it is running, and expects a clean end.
func (s *server) stop() {
	s.t.Helper()
	if err := s.end(); err != nil {
		s.t.Errorf("the server did not end cleanly: %v", err)
	}
}

func (s *server) restart() {
	s.t.Helper()
	s.stop()
	s.start()
}

// end ends the server, if it is running, and returns its error.
func (s *server) end() error {
	if s.cancel == nil {
		return nil
	}
	s.client.CloseIdleConnections()
	s.cancel()
	s.cancel = nil
	return <-s.ended
}

// clock is the server's clock: it stands still until it is set, or follows the real time.
type clock struct {
	mu   sync.Mutex
	at   time.Time
	real bool
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.real {
		return time.Now()
	}
	return c.at
}

func (c *clock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

func (c *clock) pass(d time.Duration) { c.set(c.now().Add(d)) }

func (c *clock) run() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.real = true
}

// buffer is a writer that can be read at any time.
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
