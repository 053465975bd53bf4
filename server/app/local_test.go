package app

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

// A server within the process answers an admin without a key, holds its folder, and ends open streams when it closes.
func TestOpenLocal_AnswersAndHoldsItsFolder(t *testing.T) {
	t.Parallel()
	cfg := devConfig(t)
	cfg.Log.Level = "error"
	var log buffer
	host := Host{Out: io.Discard, Err: &log, Now: time.Now}
	local, err := OpenLocal(t.Context(), cfg, host)
	if err != nil {
		t.Fatal(err)
	}
	body := strings.NewReader(`{"user_id":"ada","content":"Likes tea."}`)
	written, err := local.Client().Post("http://localhost/v1/memories", "application/json", body)
	if err != nil || written.StatusCode != http.StatusCreated {
		t.Fatalf("got %v, %v", written, err)
	}
	_ = written.Body.Close()
	if _, err := OpenLocal(t.Context(), cfg, host); !memory.IsKind(err, memory.KindConflict) {
		t.Errorf("a second server on the folder: %v, want an error of kind conflict", err)
	}
	stream, err := local.Client().Get("http://localhost/v1/events?after=0")
	if err != nil || stream.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v", stream, err)
	}
	events := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(stream.Body) // the text shows how it ended
		_ = stream.Body.Close()
		events <- string(text)
	}()
	if err := local.Close(); err != nil {
		t.Fatal(err)
	}
	if text := <-events; !strings.Contains(text, "Likes tea.") {
		t.Errorf("the stream has %s", text)
	}
	if _, err := local.Client().Get("http://localhost/v1/stats"); err == nil {
		t.Error("a closed server answers")
	}
	if log.String() != "" {
		t.Errorf("the log has %s", log.String())
	}
	again, err := OpenLocal(t.Context(), cfg, host)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	cfg.Database.URL = "postgres://localhost/db"
	if _, err := OpenLocal(t.Context(), cfg, host); !memory.IsKind(err, memory.KindInvalid) {
		t.Errorf("with a Postgres: %v, want an error of kind invalid", err)
	}
}
