package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// receiver is the endpoint of a webhook. It checks each request by the documentation alone, and answers with the
// faults, then with 204.
type receiver struct {
	*httptest.Server
	t *testing.T

	mu     sync.Mutex
	faults []func(http.ResponseWriter, *http.Request)
	taken  map[string]int // accepted deliveries, by id
	calls  int
}

func newReceiver(t *testing.T, faults ...func(http.ResponseWriter, *http.Request)) *receiver {
	r := &receiver{t: t, faults: faults, taken: map[string]int{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	raw, err := io.ReadAll(q.Body)
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%s.%s", q.Header.Get("X-Hippocampus-Timestamp"), raw)
	var sent struct {
		ID, Kind string
		AppID    string `json:"app_id"`
		Data     struct{ Change string }
	}
	switch {
	case err != nil || json.Unmarshal(raw, &sent) != nil || q.Method != "POST" ||
		q.Header.Get("Content-Type") != "application/json":
		r.t.Errorf("a delivery is %s with %s: %v", q.Method, raw, err)
	case q.Header.Get("X-Hippocampus-Signature") != "sha256="+hex.EncodeToString(mac.Sum(nil)):
		r.t.Errorf("the signature of %s is wrong", raw)
	case q.Header.Get("Webhook-Signature") !=
		SignStandard(secret, q.Header.Get("Webhook-Id"), q.Header.Get("Webhook-Timestamp"), raw):
		r.t.Errorf("the standard signature of %s is wrong", raw)
	case sent.ID == "" || q.Header.Get("Webhook-Id") != sent.ID || q.Header.Get("X-Hippocampus-Id") != sent.ID ||
		q.Header.Get("X-Hippocampus-Event") != sent.Kind ||
		sent.Kind != "memory.forgotten" || sent.AppID != "app" || sent.Data.Change != "purged":
		r.t.Errorf("delivered %s with %v", raw, q.Header)
	}
	r.mu.Lock()
	r.calls++
	if len(r.faults) > 0 {
		fault := r.faults[0]
		r.faults = r.faults[1:]
		r.mu.Unlock()
		fault(w, q)
		return
	}
	defer r.mu.Unlock()
	r.taken[sent.ID]++
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) ids() (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.taken {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (r *receiver) called() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls
}

func status(code int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func hang(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() }

func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
