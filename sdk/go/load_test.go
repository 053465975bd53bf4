package hippocampus_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	hippocampus "hippocampus/sdk/go"
)

const recallAnswer = `{"memories": [{"id": "0198c0de-0000-7000-8000-000000000001", "content": "Likes green tea.",
	"similarity": 0.7, "lexical": 3.2, "neighbour": 0, "speaker": 0, "date": 0, "when": 0, "routed": 0, "question": 0,
	"message": 0, "skill": 0, "relevance": 1, "confidence": 0.8, "decay": 1, "importance": 0.8, "score": 0.9,
	"sources": ["vector"]}], "route": {"domains": [], "source": "off", "skipped": false}, "degraded": [],
	"at": "2026-01-31T08:00:00Z", "took_ms": 1}`

// Of a thousand calls at once, every second one is cancelled before its answer.
// The test is not parallel, since it counts goroutines.
func TestClient_LeavesNoGoroutineBehindAThousandCalls(t *testing.T) {
	before := goleak.IgnoreCurrent()
	hold := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "late") {
			select {
			case <-hold:
			case <-r.Context().Done():
			}
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, recallAnswer)
	}))
	client, err := hippocampus.New(hippocampus.WithURL(s.URL), hippocampus.WithTimeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var answered, all sync.WaitGroup
	for i := range 1000 {
		query := []string{"tea", "late"}[i%2]
		if query == "tea" {
			answered.Add(1)
		}
		all.Go(func() {
			answer, err := client.Recall(ctx, hippocampus.RecallRequest{UserID: "ada", Query: query})
			if query == "late" {
				if !errors.Is(err, context.Canceled) {
					t.Errorf("a call that ended early gives %v", err)
				}
				return
			}
			defer answered.Done()
			if err != nil || len(answer.Memories) != 1 {
				t.Errorf("a call gives %+v, %v", answer, err)
			}
		})
	}
	answered.Wait()
	cancel()
	all.Wait()
	close(hold)
	client.Close()
	s.Close()
	goleak.VerifyNone(t, before)
}

// canned answers without a network, so that the benchmarks measure the client alone.
type canned struct{}

func (canned) RoundTrip(r *http.Request) (*http.Response, error) {
	io.Copy(io.Discard, r.Body)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		ContentLength: int64(len(recallAnswer)), Body: io.NopCloser(strings.NewReader(recallAnswer)),
	}, nil
}

func BenchmarkRecall(b *testing.B) {
	request := hippocampus.RecallRequest{UserID: "ada", Query: "What does she drink?"}
	client := newClient(b, hippocampus.WithHTTPClient(&http.Client{Transport: canned{}}))
	b.Run("client", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := client.Recall(b.Context(), request); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("net-http", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := recallPlainly(b.Context(), request); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// recallPlainly recalls as a caller without the client would.
func recallPlainly(ctx context.Context, request hippocampus.RecallRequest) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, hippocampus.DefaultTimeout)
	defer cancel()
	url := hippocampus.DefaultURL + "/v1/recall"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer key")
	resp, err := (&http.Client{Transport: canned{}}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(new(hippocampus.RecallAnswer))
}
