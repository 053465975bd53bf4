package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// binary is the server as users build it: static, without cgo.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "hippocampus-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "hippocampus")
	build := exec.Command("go", "build", "-o", binary, "hippocampus/cmd/hippocampus")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the server: %v\n%s", err, out)
		os.Exit(1)
	}
	// The tests wait more than they compute, but Milvus makes one collection at a time.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// adminKey is configured into every server of the tests.
const adminKey = "e2e-admin-key-16-long"

// waitLimit is how long a condition may take to come true on a busy machine.
const waitLimit = 5 * time.Minute

// server is one running process of the binary.
type server struct {
	t   *testing.T
	env []string
	dir string // working directory and SQLite's folder
	key string

	program string // path of the binary

	listen string // HOST:PORT to listen on
	url    string
	cmd    *exec.Cmd
	exited chan error
	mu     sync.Mutex
	output bytes.Buffer
}

// patient are settings with which no request times out because the machine stalls.
// Tests of timeouts have settings of their own.
var patient = []string{
	"HIPPOCAMPUS_RECALL_VECTOR_TIMEOUT=1m", "HIPPOCAMPUS_RECALL_EMBED_TIMEOUT=1m", "HIPPOCAMPUS_ROUTER_TIMEOUT=1m",
	"HIPPOCAMPUS_COMPRESSION_CONTEXT_TIMEOUT=1m", "HIPPOCAMPUS_API_WAIT_TIMEOUT=90s",
	"HIPPOCAMPUS_API_SHUTDOWN_TIMEOUT=1m", "HIPPOCAMPUS_DATABASE_TIMEOUT=1m",
}

// unwaiting is the default timeout: recall does not wait for an unavailable Milvus.
var unwaiting = []string{"HIPPOCAMPUS_RECALL_VECTOR_TIMEOUT=2s"}

// start runs the binary with these settings (KEY=VALUE) and waits until it listens.
func start(t *testing.T, env ...string) *server {
	t.Helper()
	s := startWithoutKey(t, slices.Concat([]string{"HIPPOCAMPUS_ADMIN_KEY=" + adminKey}, patient, env)...)
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
	s := &server{t: t, env: env, dir: t.TempDir(), program: program, listen: "127.0.0.1:0"}
	s.run()
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			t.Logf("the server's output:\n%s", s.printed())
		}
	})
	return s
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
	s.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir}, s.env...)
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

// object is a decoded JSON object.
type object map[string]any

// reply is an answer of the server.
type reply struct {
	status int
	header http.Header
	raw    string
	body   object
}

var httpClient = &http.Client{Timeout: waitLimit}

// try sends a request, without a body if body is nil; a string or []byte is sent unchanged.
func (s *server) try(method, path string, body any) (reply, error) {
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	case []byte:
		reader = bytes.NewReader(b)
	default:
		data, err := json.Marshal(b)
		if err != nil {
			return reply{}, err
		}
		reader = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, s.address()+path, reader)
	if err != nil {
		return reply{}, err
	}
	if s.key != "" {
		req.Header.Set("Authorization", "Bearer "+s.key)
	}
	if reader != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := httpClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return reply{}, err
	}
	r := reply{status: res.StatusCode, header: res.Header, raw: string(data)}
	_ = json.Unmarshal(data, &r.body)
	return r, nil
}

// call sends a request and expects one of the statuses.
func (s *server) call(method, path string, body any, statuses ...int) reply {
	s.t.Helper()
	r, err := s.try(method, path, body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	for _, status := range statuses {
		if r.status == status {
			return r
		}
	}
	s.t.Fatalf("%s %s with %v: status %d, want %v: %s", method, path, body, r.status, statuses, r.raw)
	return r
}

// erase erases a user. It repeats the request while the answer is 503, since an
// erasure waits for pushes under way, including those of a killed server.
func (s *server) erase(user string) (receipt reply) {
	s.t.Helper()
	eventually(s.t, "the user being erased", func() string {
		if receipt = s.call("DELETE", "/v1/users/"+url.PathEscape(user), nil, 200, 503); receipt.status == 503 {
			return receipt.raw
		}
		return ""
	})
	return receipt
}

// list returns the objects under a key of an answer.
func (r reply) list(key string) []object { return listOf(r.body[key]) }

// listOf returns a list of objects in a JSON value.
func listOf(value any) []object {
	items, _ := value.([]any)
	list := make([]object, len(items))
	for i, item := range items {
		list[i], _ = item.(map[string]any)
	}
	return list
}

// contents returns the content fields of a list, in order.
func contents(list []object) []string {
	texts := make([]string, len(list))
	for i, o := range list {
		texts[i], _ = o["content"].(string)
	}
	return texts
}

// eventually waits until f reports no more reason to wait.
func eventually(t *testing.T, what string, f func() (waiting string)) {
	t.Helper()
	deadline := time.Now().Add(waitLimit)
	for {
		waiting := f()
		if waiting == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come true within %s: %s", what, waitLimit, waiting)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
