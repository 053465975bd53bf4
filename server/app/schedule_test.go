package app

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"hippocampus/server/config"
)

// What the schedule asks for is done, and its result can be seen.
func TestScheduledUpkeepIsDone(t *testing.T) {
	cfg := config.Default()
	cfg.Listen, cfg.Data, cfg.Dev = "127.0.0.1:0", t.TempDir(), true
	cfg.Schedule = config.Schedule{Forgetting: "@every 1s", Purge: "@every 1s", Facts: "@every 1s", Compression: "@every 1s", Timeout: time.Minute}
	ctx, cancel := context.WithCancel(t.Context())
	var out buffer
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, cfg, Host{Out: &out, Err: io.Discard, Now: time.Now}) }()
	url := waitFor(t, &out, ended)
	client := &http.Client{}
	for kind, want := range map[string]string{
		"forgetting": `{"considered":0,"failed":0,"forgotten":0,"notes":[],"stopped":0,"users":0}`,
		"purge":      `{"purged":0}`,
		"facts":      `{"begun":0,"due":0,"ended":0,"failed":0}`,
		// There is no model.
		"compression": `{"considered":0,"failed":0,"groups":0,"refused":0,"retired":0,"summaries":0,"users":0}`,
	} {
		if result := completed(t, client, url+"/v1/jobs?kind="+kind); result != want {
			t.Errorf("%s: %s, want %s", kind, result, want)
		}
	}
	client.CloseIdleConnections()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// completed waits for a job that ended well and returns its result.
func completed(t *testing.T, client *http.Client, url string) string {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		res, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		var list struct {
			Jobs []struct {
				State  string
				Result json.RawMessage
			}
		}
		err = json.NewDecoder(res.Body).Decode(&list)
		_ = res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, job := range list.Jobs {
			if job.State == "completed" {
				return string(job.Result)
			}
		}
	}
	t.Fatalf("no job of %s completes", url)
	return ""
}
