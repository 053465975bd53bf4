package app

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/wordvec"
	"hippocampus/server/config"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/projection"
	"hippocampus/vectorstore/sqlitevec"
)

// serving runs a server until the test calls stop. post sends JSON to it, and
// waits for the result where the answer is a job.
func serving(t *testing.T, cfg config.Config) (post func(path, body string) string, metrics func() string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var out, logged buffer
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, cfg, Host{Out: &out, Err: &logged, Now: time.Now}) }()
	url := waitFor(t, &out, ended)
	client := &http.Client{}
	answer := func(res *http.Response, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode/100 != 2 {
			t.Fatalf("%d %s %v", res.StatusCode, body, err)
		}
		return string(body)
	}
	send := func(path, body string) string {
		t.Helper()
		return answer(client.Post(url+path, "application/json", strings.NewReader(body)))
	}
	get := func(path string) string {
		t.Helper()
		return answer(client.Get(url + path))
	}
	post = func(path, body string) string {
		t.Helper()
		if !strings.HasPrefix(path, "/v1/admin/") {
			return send(path, body)
		}
		var job struct {
			ID, State string
			Result    json.RawMessage
		}
		for err := json.Unmarshal([]byte(send(path, body)), &job); job.State != "completed"; time.Sleep(10 * time.Millisecond) {
			if err == nil {
				err = json.Unmarshal([]byte(get("/v1/jobs/"+job.ID)), &job)
			}
			if err != nil || job.State == "retryable" {
				t.Fatalf("%s: %+v, %v", path, job, err)
			}
		}
		return string(job.Result)
	}
	return post, func() string { return get("/metrics") }, func() {
		t.Helper()
		client.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Fatalf("run ended with %v\n%s", err, logged.String())
		}
	}
}

// What is lost in the vector store is seen by verify, and mended by repair,
// rebuild, or the next start; by the API and by the commands.
func TestVerifyRepairAndRebuild(t *testing.T) {
	cfg := config.Default()
	cfg.Listen, cfg.Data, cfg.Dev = "127.0.0.1:0", t.TempDir(), true
	cfg.Projection.Grace = time.Second
	vectorFile := filepath.Join(cfg.Data, sqlitevec.FileName(llm.SpaceOf(wordvec.New())))
	post, metrics, stop := serving(t, cfg)
	var stored memory.Memory
	if err := json.Unmarshal([]byte(post("/v1/memories", `{"user_id":"ada","content":"I live in Oslo"}`)), &stored); err != nil {
		t.Fatal(err)
	}
	command := func(run func(Host) error) (out string, err error) {
		var printed buffer
		err = run(Host{Out: &printed, Err: io.Discard, Now: time.Now})
		return printed.String(), err
	}
	verify := func(repair bool) (out string, err error) {
		for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			out, err = command(func(h Host) error { return Verify(t.Context(), cfg, h, repair) })
			if !strings.Contains(out, `"in_flight": 1`) { // the grace is over
				break
			}
		}
		return out, err
	}
	embedder := wordvec.New()
	space := vectorstore.Space{Model: embedder.Model(), Dim: embedder.Dim()}
	lose := func() {
		t.Helper()
		vectors, _, err := openVectors(t.Context(), cfg, space, zap.NewNop())
		if err != nil {
			t.Fatal(err)
		}
		defer vectors.Close()
		if err := vectors.Delete(t.Context(), []string{stored.ID}); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := verify(false); err != nil || !strings.Contains(out, `"checked": 1`) {
		t.Fatalf("of equal stores: %s, %v", out, err)
	}
	lose()
	if out, err := verify(false); !memory.IsKind(err, memory.KindConflict) || !strings.Contains(out, stored.ID) {
		t.Fatalf("a lost record: %s, %v", out, err)
	}
	if out, err := verify(true); err != nil || !strings.Contains(out, `"requeued": 1`) {
		t.Fatalf("the repair: %s, %v", out, err)
	}
	if out, err := command(func(h Host) error { return Rebuild(t.Context(), cfg, h) }); err != nil || !strings.Contains(out, `"copied": 1`) {
		t.Fatalf("the rebuild: %s, %v", out, err)
	}

	lose()
	var repaired projection.Repaired
	for deadline := time.Now().Add(5 * time.Minute); repaired.Requeued == 0 && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if err := json.Unmarshal([]byte(post("/v1/admin/repair", "")), &repaired); err != nil { // once the grace is over
			t.Fatal(err)
		}
	}
	if repaired.Missing.Count != 1 || !strings.Contains(metrics(), `hippocampus_vectors_drift{kind="missing"} 1`) {
		t.Errorf("the repair by the API: %+v", repaired)
	}
	if result := post("/v1/admin/rebuild", ""); !strings.Contains(result, `"copied":1`) && !strings.Contains(result, `"copied": 1`) {
		t.Errorf("the rebuild by the API: %s", result)
	}
	stop()

	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(vectorFile + suffix); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	_, metrics, stop = serving(t, cfg)
	for deadline := time.Now().Add(5 * time.Minute); !strings.Contains(metrics(), "hippocampus_vectors_pending 0"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a deleted vector file is not filled again")
		}
	}
	stop()
	if out, err := verify(false); err != nil || !strings.Contains(out, `"checked": 1`) {
		t.Errorf("after the start: %s, %v", out, err)
	}
}
