package app

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"hippocampus/internal/bilingual"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/server/config"
	"hippocampus/vectorstore/projection"
	"hippocampus/vectorstore/sqlitevec"
)

// admin enqueues a job of the whole server and returns its result.
func (s *instance) admin(action string) string {
	s.t.Helper()
	var job struct {
		ID, State string
		Result    json.RawMessage
	}
	s.decode(s.post("/v1/admin/"+action, ""), &job)
	for ; job.State != "completed"; time.Sleep(10 * time.Millisecond) {
		s.decode(s.get("/v1/jobs/"+job.ID), &job)
		if job.State == "retryable" {
			s.t.Fatalf("%s: %+v", action, job)
		}
	}
	return string(job.Result)
}

// stored starts a server on an installation, stores one memory, and returns both.
func stored(t *testing.T, cfg config.Config) (*instance, memory.Memory) {
	t.Helper()
	s := start(t, cfg)
	var m memory.Memory
	s.decode(s.post("/v1/memories", `{"user_id":"ada","content":"I live in Oslo"}`), &m)
	return s, m
}

// removeVector deletes a memory's vector without the projection.
func removeVector(t *testing.T, cfg config.Config, id string) {
	t.Helper()
	vectors, _, err := openVectors(t.Context(), cfg, llm.SpaceOf(bilingual.New()), zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	defer vectors.Close()
	if err := vectors.Delete(t.Context(), []string{id}); err != nil {
		t.Fatal(err)
	}
}

// verified runs the verify command until no push is within the grace period.
func verified(t *testing.T, cfg config.Config, repair bool) (out string, err error) {
	t.Helper()
	for deadline := time.Now().Add(longTime); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var printed buffer
		err = Verify(t.Context(), cfg, Host{Out: &printed, Err: io.Discard, Now: time.Now}, repair)
		out = printed.String()
		if !strings.Contains(out, `"in_flight": 1`) {
			break
		}
	}
	return out, err
}

func verifyConfig(t *testing.T) config.Config {
	t.Helper()
	cfg := devConfig(t)
	cfg.Projection.Grace = time.Second
	return cfg
}

func TestVerify_FindsAndRepairsALostVector(t *testing.T) {
	cfg := verifyConfig(t)
	s, m := stored(t, cfg)
	defer s.stop()
	if out, err := verified(t, cfg, false); err != nil || !strings.Contains(out, `"checked": 1`) {
		t.Fatalf("of equal stores: %s, %v", out, err)
	}
	removeVector(t, cfg, m.ID)
	if out, err := verified(t, cfg, false); !memory.IsKind(err, memory.KindConflict) || !strings.Contains(out, m.ID) {
		t.Fatalf("of a lost vector: %s, %v", out, err)
	}
	if out, err := verified(t, cfg, true); err != nil || !strings.Contains(out, `"requeued": 1`) {
		t.Fatalf("the repair: %s, %v", out, err)
	}
	var out buffer
	err := Rebuild(t.Context(), cfg, Host{Out: &out, Err: io.Discard, Now: time.Now})
	if err != nil || !strings.Contains(out.String(), `"copied": 1`) {
		t.Fatalf("the rebuild: %s, %v", out.String(), err)
	}
}

func TestMaintenance_RepairsAndRebuildsOnRequest(t *testing.T) {
	cfg := verifyConfig(t)
	s, m := stored(t, cfg)
	defer s.stop()
	if out, err := verified(t, cfg, false); err != nil { // the grace period of the write has passed
		t.Fatalf("%s, %v", out, err)
	}
	removeVector(t, cfg, m.ID)
	var repaired projection.Repaired
	for deadline := time.Now().Add(longTime); repaired.Requeued == 0; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a lost vector is not repaired")
		}
		s.decode(s.admin("repair"), &repaired)
	}
	if repaired.Missing.Count != 1 || !strings.Contains(s.get("/metrics"), `hippocampus_vectors_drift{kind="missing"} 1`) {
		t.Errorf("the repair: %+v", repaired)
	}
	var rebuilt struct{ Copied int }
	s.decode(s.admin("rebuild"), &rebuilt)
	if rebuilt.Copied != 1 {
		t.Errorf("the rebuild copied %d", rebuilt.Copied)
	}
}

func TestRun_FillsAnEmptyVectorStore(t *testing.T) {
	cfg := verifyConfig(t)
	s, _ := stored(t, cfg)
	if out, err := verified(t, cfg, false); err != nil || !strings.Contains(out, `"checked": 1`) {
		t.Fatalf("before the loss: %s, %v", out, err)
	}
	s.stop()
	file := filepath.Join(cfg.Data, sqlitevec.FileName(llm.SpaceOf(bilingual.New())))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(file + suffix); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	s = start(t, cfg)
	deadline := time.Now().Add(longTime)
	for ; !strings.Contains(s.get("/metrics"), "hippocampus_vectors_pending 0"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a deleted vector file is not filled again")
		}
	}
	s.stop()
	if out, err := verified(t, cfg, false); err != nil || !strings.Contains(out, `"checked": 1`) {
		t.Errorf("after the start: %s, %v", out, err)
	}
}
