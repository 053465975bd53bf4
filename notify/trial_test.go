package notify

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

// A test reaches an inactive webhook, is signed as a delivery is, and changes nothing.
func TestWebhooks_SendsATest(t *testing.T) {
	t.Parallel()
	r := databases["sqlite"](t)()
	answer := http.StatusNoContent
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		calls++
		raw, _ := io.ReadAll(q.Body)
		stamp := q.Header.Get("X-Hippocampus-Timestamp")
		var sent struct{ ID, Kind, At, AppID string }
		switch {
		case json.Unmarshal(raw, &sent) != nil || sent.Kind != "webhook.test" || sent.ID != q.Header.Get("Webhook-Id"):
			t.Errorf("sent %s with %v", raw, q.Header)
		case q.Header.Get("X-Hippocampus-Event") != "webhook.test",
			q.Header.Get("X-Hippocampus-Signature") != Sign(secret, stamp, raw),
			q.Header.Get("Webhook-Signature") != SignStandard(secret, sent.ID, q.Header.Get("Webhook-Timestamp"), raw):
			t.Errorf("the headers of %s are %v", raw, q.Header)
		}
		w.WriteHeader(answer)
	}))
	t.Cleanup(server.Close)
	hooks := NewWebhooks(r, local, time.Now)
	made, err := hooks.Create(t.Context(), memory.Webhook{AppID: "app", URL: server.URL, Secret: secret})
	must(t, err)
	try := func(app string) (failure, err error) {
		_, failure, err = hooks.Test(t.Context(), app, made.ID)
		return failure, err
	}
	failure, err := try("app")
	must(t, err)
	must(t, failure)
	answer = http.StatusTeapot
	failure, err = try("app")
	must(t, err)
	if failure == nil || failure.Error() != "answered with status 418" {
		t.Errorf("a refused test fails with %v", failure)
	}
	if _, err := try("other"); !memory.IsKind(err, memory.KindNotFound) {
		t.Errorf("another app's webhook: %v", err)
	}
	strict := local
	strict.AllowPrivate = false
	_, failure, err = NewWebhooks(r, strict, time.Now).Test(t.Context(), "app", made.ID)
	must(t, err)
	if failure == nil || calls != 2 {
		t.Errorf("a private address: %v, %d calls", failure, calls)
	}
	if after, err := r.Webhook(t.Context(), "app", made.ID); err != nil || after.Failing.LastError != "" {
		t.Errorf("recorded %+v, %v", after, err)
	}
}
