package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"hippocampus/server/app"
)

// shown executes a command line whose standard error is a terminal, and returns what the terminal showed.
func shown(t *testing.T, env []string, args ...string) string {
	t.Helper()
	screen, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	var text strings.Builder
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(&text, screen) // ends with EIO when the terminal is closed
	}()
	code := execute(t.Context(), args, env, app.Host{Out: io.Discard, Err: terminal, Now: time.Now})
	if err := terminal.Close(); err != nil {
		t.Fatal(err)
	}
	<-read
	if code != 0 {
		t.Errorf("%q: exit %d: %s", args, code, text.String())
	}
	return text.String()
}

func TestImport_ShowsABarOnATerminal(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(file, []byte(strings.Repeat("{}\n", 1<<16)), 0o600); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, `{"imported":2,"complete":true}`)
	}))
	defer s.Close()
	text := shown(t, nil, "import", file, "--url", s.URL)
	if !strings.Contains(text, "importing") || !strings.Contains(text, "% |") {
		t.Errorf("the terminal shows %q", text)
	}
}

func TestVerifyAndRebuild_ShowBarsOnATerminal(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	env := []string{"HIPPOCAMPUS_DATA=" + data}
	if code, _, errOut := run(t, env, "remember", "Likes tea.", "--user", "ada", "--data", data); code != 0 {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	for want, args := range map[string][]string{"comparing": {"verify", "--repair"}, "copying": {"rebuild"}} {
		if text := shown(t, env, args...); !strings.Contains(text, want) {
			t.Errorf("%q: the terminal shows %q, not %q", args, text, want)
		}
		if _, _, errOut := run(t, env, args...); strings.Contains(errOut, want) {
			t.Errorf("%q: without a terminal there is %q", args, errOut)
		}
	}
}
