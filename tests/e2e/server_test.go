package e2e

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"hippocampus/internal/freeport"
)

// binary is the server as build makes it.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "hippocampus-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := setClock(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if binary, err = build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// The tests wait more than they compute, but Milvus makes one collection at a time.
	if err := flag.Set("test.parallel", "9"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// adminKey is configured into every server of the tests.
const adminKey = "e2e-admin-key-16-long"

// waitLimit is how long a condition may take to come true on a busy machine.
const waitLimit = 15 * time.Minute

// server is one running process of the binary.
type server struct {
	t   *testing.T
	env []string
	dir string // working directory and SQLite's folder
	key string

	program string // path of the binary

	listen string // HOST:PORT to listen on, after each start the same
	url    string
	cmd    *exec.Cmd
	exited chan error
	mu     sync.Mutex
	output bytes.Buffer
}

// patient are settings with which no request times out because the machine stalls.
// Tests of timeouts have settings of their own.
var patient = []string{
	"HIPPOCAMPUS_RECALL_TIMEOUT=5m", "HIPPOCAMPUS_ROUTER_TIMEOUT=1m", "HIPPOCAMPUS_API_WAIT_TIMEOUT=90s",
	"HIPPOCAMPUS_API_SHUTDOWN_TIMEOUT=1m", "HIPPOCAMPUS_DATABASE_TIMEOUT=1m",
}

// never is a schedule that has no tick while tests run, whatever the date on which their clock begins.
const never = "0 0 30 6 *"

// unscheduled are settings without schedules. A tick in the middle of a test would end an idle conversation, or reflect
// on a user. Tests of schedules have settings of their own.
var unscheduled = []string{
	"HIPPOCAMPUS_SCHEDULE_REFLECTION=" + never, "HIPPOCAMPUS_SCHEDULE_CONSOLIDATION=" + never,
	"HIPPOCAMPUS_SCHEDULE_IDLE=" + never, "HIPPOCAMPUS_SCHEDULE_FACTS=" + never,
	"HIPPOCAMPUS_SCHEDULE_FORGETTING=" + never, "HIPPOCAMPUS_SCHEDULE_PURGE=" + never,
	"HIPPOCAMPUS_SCHEDULE_COMPRESSION=" + never, "HIPPOCAMPUS_SCHEDULE_EPISODES=" + never,
	"HIPPOCAMPUS_SCHEDULE_EVOLUTION=" + never, "HIPPOCAMPUS_SCHEDULE_VERIFICATION=" + never,
}

// unwaiting bounds a recall so that it waits at most 6 s for an unavailable Milvus.
var unwaiting = []string{"HIPPOCAMPUS_RECALL_TIMEOUT=30s"}

// start runs the binary with these settings (KEY=VALUE) and waits until it listens.
func start(t *testing.T, env ...string) *server {
	t.Helper()
	s := prepare(t, env...)
	s.run()
	return s
}

// prepare returns the same server as start, without starting it.
func prepare(t *testing.T, env ...string) *server {
	t.Helper()
	s := newServer(t, binary, slices.Concat([]string{"HIPPOCAMPUS_ADMIN_KEY=" + adminKey}, patient, env))
	s.key = adminKey
	return s
}

// startWithoutKey starts a server that generates its own admin key.
func startWithoutKey(t *testing.T, env ...string) *server {
	t.Helper()
	return startProgram(t, binary, env...)
}

// startProgram starts a server from another build of the binary.
func startProgram(t *testing.T, program string, env ...string) *server {
	t.Helper()
	s := newServer(t, program, env)
	s.run()
	return s
}

// newServer returns a server that does not run yet, and has no schedules except the ones in env. It is killed at the
// end of the test.
func newServer(t *testing.T, program string, env []string) *server {
	t.Helper()
	s := &server{t: t, env: slices.Concat(unscheduled, env), dir: t.TempDir(), program: program, listen: newAddress(t)}
	t.Cleanup(func() {
		if s.cmd != nil {
			s.kill()
		}
		if t.Failed() {
			t.Logf("the server's output without answered requests:\n%s", answered.ReplaceAllString(s.printed(), ""))
		}
	})
	return s
}

// answered matches the log's lines of requests that succeeded, which would hide the others of a long test.
var answered = regexp.MustCompile(`(?m)^.*\trequest\t.*"status": 2.*\n`)

// newAddress returns a HOST:PORT on which nothing listens.
func newAddress(t *testing.T) string {
	t.Helper()
	address, err := freeport.Address()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

var listening = regexp.MustCompile(`listening on (http://\S+)`)

// run starts or restarts the process.
func (s *server) run() {
	s.t.Helper()
	if err := s.launch(); err != nil {
		s.t.Fatalf("the server did not start: %v\n%s", err, s.printed())
	}
}

func (s *server) launch() error {
	s.cmd = exec.Command(s.program, "serve", "--listen", s.listen)
	s.cmd.Dir = s.dir
	s.cmd.Env = slices.Concat([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "GOGC=" + os.Getenv("GOGC")},
		clockEnv(), s.env)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	s.cmd.Stderr = s
	if err := s.cmd.Start(); err != nil {
		return err
	}
	found := make(chan string, 1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		scanner := bufio.NewScanner(out)
		for scanner.Scan() {
			_, _ = s.Write(append(scanner.Bytes(), '\n'))
			if m := listening.FindSubmatch(scanner.Bytes()); m != nil {
				found <- string(m[1])
			}
		}
	}()
	s.exited = make(chan error, 1)
	go func(cmd *exec.Cmd, exited chan error) {
		<-read
		exited <- cmd.Wait()
	}(s.cmd, s.exited)
	select {
	case url := <-found:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.url = url // some tests send requests during a restart
		return nil
	case err := <-s.exited:
		s.exited <- err
		return fmt.Errorf("the server ended: %w", err)
	case <-time.After(waitLimit):
		return fmt.Errorf("the server did not listen within %s", waitLimit)
	}
}

// Write collects output.
func (s *server) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.output.Write(p)
}

// address returns the URL on which the server listens, or listened last.
func (s *server) address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.url
}

func (s *server) printed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.output.String()
}

// kill ends the process without a warning, as the OOM killer would.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	err := <-s.exited
	s.exited <- err
}

// stop ends the process as an orchestrator does, and expects a clean exit.
func (s *server) stop() {
	s.t.Helper()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-s.exited:
		s.exited <- err
		if err != nil {
			s.t.Fatalf("the server did not end cleanly: %v\n%s", err, s.printed())
		}
	case <-time.After(waitLimit):
		s.t.Fatalf("the server did not end within %s\n%s", waitLimit, s.printed())
	}
}

// eventually waits until f reports no more reason to wait.
func eventually(t *testing.T, what string, f func() (waiting string)) {
	t.Helper()
	began := time.Now()
	for {
		waiting := f()
		if waiting == "" {
			return
		}
		took := time.Since(began)
		if took > waitLimit {
			t.Fatalf("%s did not come true within %s: %s", what, waitLimit, waiting)
		}
		time.Sleep(max(25*time.Millisecond, min(took/5, 500*time.Millisecond))) // requests slow what is waited for
	}
}
