package app

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hippocampus/server/config"
)

// Run ends with its context: accepted turns are kept, touches and the log of
// recalls are flushed, and no goroutine is left.
func TestRun_EndsCleanlyOnSQLite(t *testing.T) { runEndsCleanly(t, config.Default()) }

func runEndsCleanly(t *testing.T, cfg config.Config) {
	t.Helper()
	cfg.Listen = "127.0.0.1:0"
	cfg.Data = t.TempDir()
	cfg.AdminKey = testKey
	cfg.Recall.Log = true
	pace := standardPace
	pace.Touches = time.Hour // only the shutdown flushes
	for starts := range 2 {
		s := startAt(t, cfg, pace)
		if starts == 0 {
			s.post("/v1/turns", `{"user_id":"ada","wait":true,`+
				`"messages":[{"role":"user","content":"I live in Oslo and I love skiing."}]}`)
		}
		answer := s.post("/v1/recall", `{"user_id":"ada","query":"Where does Ada live?"}`)
		if !strings.Contains(answer, "Oslo") || !strings.Contains(answer, fmt.Sprintf(`"access_count":%d`, starts)) {
			t.Errorf("start %d recalls %s", starts, answer)
		}
		logged := s.get("/v1/recalls?user_id=ada")
		if n := strings.Count(logged, `"query":"Where does Ada live?"`); n != starts {
			t.Errorf("start %d: %d recalls are logged: %s", starts, n, logged)
		}
		s.stop()
	}
}

// A start that fails must not generate a key, since its secret would never be shown.
func TestRun_LeavesNothingIfTheAddressIsTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cfg := config.Default()
	cfg.Listen = taken.Addr().String()
	cfg.Data = filepath.Join(t.TempDir(), "data")
	err = Run(t.Context(), cfg, Host{Out: io.Discard, Err: io.Discard, Now: time.Now})
	if err == nil || !strings.Contains(err.Error(), "--listen") {
		t.Fatalf("a taken address gives %v", err)
	}
	if _, err := os.Stat(cfg.Data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the failed start made a data folder: %v", err)
	}
	cfg.Listen = "127.0.0.1:0"
	s := start(t, cfg)
	if !strings.Contains(s.out.String(), "shown this once: hp_") {
		t.Errorf("the first successful start shows no key:\n%s", s.out.String())
	}
	s.stop()
}
