package main

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"hippocampus/server/app"
	"hippocampus/server/config"
)

// A fact of the first message is part of the prompt for a later message.
func TestChat_RemembersWhatWasSaid(t *testing.T) {
	t.Parallel()
	memory := client{url: startServer(t)}
	ctx := t.Context()
	if err := chat(ctx, memory, "ada", strings.NewReader("I live in Lisbon.\n"), io.Discard); err != nil {
		t.Fatal(err)
	}
	deadline, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for { // a turn is processed after it was accepted
		var out bytes.Buffer
		if err := chat(deadline, memory, "ada", strings.NewReader("Where do I live?\n"), &out); err != nil {
			t.Fatalf("no prompt named Lisbon: %v", err)
		}
		if strings.Contains(out.String(), "I live in Lisbon.") {
			return
		}
	}
}

func TestPost_ReportsTheServersProblem(t *testing.T) {
	t.Parallel()
	memory := client{url: startServer(t)}
	_, err := memory.context(t.Context(), "", "Where do I live?")
	if err == nil || !strings.Contains(err.Error(), "user_id") {
		t.Errorf("a context without a user gave %v, want a problem that names user_id", err)
	}
}

// startServer runs a server without keys on a free port and returns its address.
func startServer(t *testing.T) string {
	t.Helper()
	cfg, err := config.Load(config.Sources{Flags: map[string]string{
		"dev": "true", "listen": "127.0.0.1:0", "data": t.TempDir(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	banner, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := app.Run(ctx, cfg, app.Host{Out: out, Err: io.Discard, Now: time.Now})
		_ = out.CloseWithError(err)
		ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	text := make([]byte, 64<<10)
	n, err := banner.Read(text)
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).Find(text[:n])
	if address == nil {
		t.Fatalf("the banner names no address: %q, %v", text[:n], err)
	}
	go func() { _, _ = io.Copy(io.Discard, banner) }()
	return string(address)
}
