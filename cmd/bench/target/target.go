// Package target runs the measured server on its own stores:
//
//	built binary + new schema and collection, or new folder -> running server -> calls over HTTP
//
// Close stops the process and drops the stores that Start created.
package target

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Options of a server.
type Options struct {
	Size     Size
	Settings []string // KEY=VALUE for the server's environment, later ones win
	Stores   *Stores  // made by the caller, or of a server that still runs; nil: new stores
	Build    []string // further arguments of go build
	Listen   string   // HOST:PORT; empty: any free port of the loopback interface
	Core     *int     // that the server runs on alone; nil: all cores
}

// Server is one running process of the binary.
type Server struct {
	Client
	Stores *Stores

	dir      string
	listen   string
	own      bool // Close drops the stores
	binary   string
	settings []string
	core     *int
	cmd      *exec.Cmd
	exited   chan error
	log      *output
}

// Start builds the server, unless $HIPPOCAMPUS_TEST_BINARY names one, and returns when it listens.
func Start(ctx context.Context, o Options) (s *Server, err error) {
	s = &Server{log: &output{}, Stores: o.Stores, settings: o.Settings, core: o.Core}
	s.listen = cmp.Or(o.Listen, "127.0.0.1:0")
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.dir, err = os.MkdirTemp("", "hippocampus-bench-"); err != nil {
		return s, err
	}
	if s.Stores == nil {
		if s.Stores, err = NewStores(ctx, o.Size, filepath.Join(s.dir, "data")); err != nil {
			return s, err
		}
		s.own = true
	}
	if err = s.build(ctx, o.Build); err == nil {
		err = s.run()
	}
	return s, err
}

// build sets s.binary: $HIPPOCAMPUS_TEST_BINARY, or a fresh build.
func (s *Server) build(ctx context.Context, arguments []string) error {
	if s.binary = os.Getenv("HIPPOCAMPUS_TEST_BINARY"); s.binary != "" && len(arguments) == 0 {
		return nil
	}
	s.binary = filepath.Join(s.dir, "hippocampus")
	build := exec.CommandContext(ctx, "go", slices.Concat([]string{"build", "-o", s.binary}, arguments,
		[]string{"hippocampus/cmd/hippocampus"})...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the server (run this inside the repository): %w\n%s", err, out)
	}
	return nil
}

// Restart stops the process, and runs it again on the same stores.
func (s *Server) Restart() error {
	if err := s.stop(); err != nil {
		return err
	}
	return s.run()
}

// Kill ends the process without a warning, as the OOM killer would.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	err := <-s.exited
	s.exited <- err
}

// Run runs the process again after Kill, or after it has ended by itself.
func (s *Server) Run() error { return s.run() }

// Ended reports whether the process has ended.
func (s *Server) Ended() bool { return len(s.exited) > 0 }

// Key is the admin key of every server.
const Key = "bench-admin-key-16-long"

const (
	startTimeout = 2 * time.Minute
	stopTimeout  = 90 * time.Second
	maxLine      = 1 << 20
)

// nightly lists the schedules that a measurement switches off, so that no memory changes while it runs.
var nightly = []string{"forgetting", "purge", "compression", "verification"}

var listening = regexp.MustCompile(`listening on (http://\S+)`)

func (s *Server) run() error {
	s.exited = make(chan error, 1)
	command := []string{s.binary, "serve", "--listen", s.listen}
	for _, schedule := range nightly {
		command = append(command, "--set", "schedule."+schedule+"=")
	}
	if s.core != nil {
		command = append([]string{"taskset", "-c", strconv.Itoa(*s.core)}, command...)
	}
	s.cmd = exec.Command(command[0], command[1:]...)
	s.cmd.Dir = s.dir
	s.cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "HIPPOCAMPUS_ADMIN_KEY=" + Key,
		"HIPPOCAMPUS_LOG_LEVEL=warn", "HIPPOCAMPUS_API_RATE_LIMIT=0",
	}, s.Stores.settings...)
	s.cmd.Env = append(s.cmd.Env, s.settings...)
	s.cmd.Stderr = s.log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	found := make(chan string, 1)
	cmd, exited := s.cmd, s.exited
	go func() {
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, maxLine)
		for lines.Scan() {
			if m := listening.FindSubmatch(lines.Bytes()); m != nil {
				found <- string(m[1])
			}
		}
		_, _ = io.Copy(io.Discard, out)
		exited <- cmd.Wait()
	}()
	select {
	case url := <-found:
		s.Client = NewClient(url, Key)
		return nil
	case err := <-s.exited:
		s.exited <- err
		return fmt.Errorf("the server ended: %v\n%s", err, s.log) //nolint:errorlint // err may be nil
	case <-time.After(startTimeout):
		return fmt.Errorf("the server does not listen after %s\n%s", startTimeout, s.log)
	}
}

// stop ends the process, if one runs.
func (s *Server) stop() error {
	if s.cmd == nil || s.cmd.Process == nil {
		return nil
	}
	process := s.cmd.Process
	s.cmd = nil
	_ = process.Signal(syscall.SIGTERM)
	select {
	case <-s.exited:
		return nil
	case <-time.After(stopTimeout):
		_ = process.Kill()
		<-s.exited
		return fmt.Errorf("the server had to be killed: it did not end in %s", stopTimeout)
	}
}

// Close shuts the server down and drops the stores that were created for it.
func (s *Server) Close() error {
	errs := []error{s.stop()}
	if s.own {
		errs = append(errs, s.Stores.Drop())
	}
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}

// Log is the end of the server's log.
func (s *Server) Log() string { return s.log.String() }

// output keeps the last bytes written to it.
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
