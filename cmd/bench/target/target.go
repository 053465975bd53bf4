// Package target starts the server that is measured, on stores of its own:
//
//	built binary + fresh schema and collection, or fresh folder -> running server -> calls over HTTP
//
// What it makes it removes: Close ends the process and drops its stores.
package target

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"time"
)

// Options say what is started.
type Options struct {
	Size     Size
	Settings []string // KEY=VALUE for the server's environment, later ones win
	Stores   *Stores  // of an earlier server that still runs; nil: fresh ones
}

// Server is one running process of the binary.
type Server struct {
	Client
	Stores *Stores

	dir    string
	own    bool // the stores are this one's to drop
	cmd    *exec.Cmd
	exited chan error
	log    *output
}

// Start builds the server and runs it; it returns when it listens.
func Start(ctx context.Context, o Options) (s *Server, err error) {
	s = &Server{log: &output{}, Stores: o.Stores, exited: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.dir, err = os.MkdirTemp("", "hippocampus-bench-"); err != nil {
		return s, err
	}
	if s.Stores == nil {
		if s.Stores, err = fresh(ctx, o.Size, filepath.Join(s.dir, "data")); err != nil {
			return s, err
		}
		s.own = true
	}
	binary := filepath.Join(s.dir, "hippocampus")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "hippocampus/cmd/hippocampus")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return s, fmt.Errorf("build the server (run this inside the repository): %w\n%s", err, out)
	}
	return s, s.run(binary, o.Settings)
}

const (
	key     = "bench-admin-key"
	starts  = 2 * time.Minute  // may a start take
	ends    = 90 * time.Second // may an end take
	maxLine = 1 << 20
)

var listening = regexp.MustCompile(`listening on (http://\S+)`)

func (s *Server) run(binary string, settings []string) error {
	s.cmd = exec.Command(binary, "serve", "--listen", "127.0.0.1:0")
	s.cmd.Dir = s.dir
	s.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "HIPPOCAMPUS_ADMIN_KEY=" + key, "HIPPOCAMPUS_LOG_LEVEL=warn", "HIPPOCAMPUS_API_RATE_LIMIT=0"}, s.Stores.settings...)
	s.cmd.Env = append(s.cmd.Env, settings...)
	s.cmd.Stderr = s.log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, maxLine)
		for lines.Scan() {
			if m := listening.FindSubmatch(lines.Bytes()); m != nil {
				found <- string(m[1])
			}
		}
		_, _ = io.Copy(io.Discard, out)
		s.exited <- s.cmd.Wait()
	}()
	select {
	case url := <-found:
		s.Client = newClient(url, key)
		return nil
	case err := <-s.exited:
		s.exited <- err
		return fmt.Errorf("the server ended: %v\n%s", err, s.log)
	case <-time.After(starts):
		return fmt.Errorf("the server does not listen after %s\n%s", starts, s.log)
	}
}

// Close ends the server in order and drops the stores that were made for it.
func (s *Server) Close() error {
	var errs []error
	if s.cmd != nil && s.cmd.Process != nil {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-s.exited:
		case <-time.After(ends):
			errs = append(errs, fmt.Errorf("the server had to be killed: it did not end in %s", ends))
			_ = s.cmd.Process.Kill()
			<-s.exited
		}
		s.cmd = nil
	}
	if s.own {
		errs = append(errs, s.Stores.drop())
	}
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}

// Log is what the server has logged, the end of it.
func (s *Server) Log() string { return s.log.String() }

// output keeps the end of what is written to it.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.text.Len() > maxLine {
		o.text.Reset()
	}
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
