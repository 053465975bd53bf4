package hippocampus_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	hippocampus "hippocampus/sdk/go"
)

// answerer is a transport without a network.
type answerer func(*http.Request) (*http.Response, error)

func (f answerer) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// newOffline returns a client whose requests f answers.
func newOffline(t *testing.T, f answerer, options ...hippocampus.Option) *hippocampus.Client {
	t.Helper()
	options = append(options, hippocampus.WithHTTPClient(&http.Client{Transport: f}))
	return newClient(t, options...)
}

func answer(r *http.Request, status int, header, body string) *http.Response {
	resp := &http.Response{
		StatusCode: status, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(body)),
	}
	resp.Header.Set("Content-Type", "application/json")
	if name, value, found := strings.Cut(header, ": "); found {
		resp.Header.Set(name, value)
	}
	return resp
}

func TestNew_TakesAddressesOfTheSchemesHTTPAndHTTPSAlone(t *testing.T) {
	t.Parallel()
	for url, valid := range map[string]bool{
		"http://localhost:8080": true, "https://example.com/memory": true,
		"localhost:8080": false, "ftp://example.com": false, "/v1": false, "http://": false, "http://a b": false,
	} {
		if _, err := hippocampus.New(hippocampus.WithURL(url)); (err == nil) != valid {
			t.Errorf("%q gives %v", url, err)
		}
	}
}

func TestClient_SendsItsKeyAndKeepsThePathOfTheAddress(t *testing.T) {
	t.Parallel()
	var got string
	client := newOffline(t, func(r *http.Request) (*http.Response, error) {
		got = r.URL.String() + " " + r.Header.Get("Authorization")
		return answer(r, http.StatusOK, "", `{}`), nil
	}, hippocampus.WithURL("https://example.com/memory/"), hippocampus.WithKey("hp_1"))
	other, err := client.With(hippocampus.WithKey("hp_2"))
	if err != nil {
		t.Fatal(err)
	}
	for c, key := range map[*hippocampus.Client]string{client: "hp_1", other: "hp_2"} {
		if _, err := c.Memory(t.Context(), "m/1", hippocampus.GetMemoryParams{}); err != nil {
			t.Fatal(err)
		}
		if want := "https://example.com/memory/v1/memories/m%2F1 Bearer " + key; got != want {
			t.Errorf("the request is %q, not %q", got, want)
		}
	}
}

func TestClient_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	unavailable := func(r *http.Request) (*http.Response, error) {
		return answer(r, http.StatusServiceUnavailable, "Retry-After: 10", `{}`), nil
	}
	for name, test := range map[string]struct {
		limit  func(context.Context) (context.Context, context.CancelFunc)
		err    error
		within time.Duration
	}{
		"a cancellation ends a wait": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(3*time.Second, cancel)
			return ctx, cancel
		}, context.Canceled, 3 * time.Second},
		"a wait beyond the deadline does not begin": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 5*time.Second)
		}, hippocampus.KindUnavailable, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := test.limit(t.Context())
				defer cancel()
				start := time.Now()
				_, err := newOffline(t, unavailable).Memory(ctx, "m", hippocampus.GetMemoryParams{})
				if took := time.Since(start); !errors.Is(err, test.err) || took != test.within {
					t.Errorf("the call ends with %v after %s", err, took)
				}
			})
		})
	}
}

func TestError_StatesWhatHappenedAndWhere(t *testing.T) {
	t.Parallel()
	client := newOffline(t, func(r *http.Request) (*http.Response, error) {
		return answer(r, http.StatusBadRequest, "X-Request-Id: r-1", `{"type": "urn:hippocampus:problem:invalid",
			"title": "Invalid", "status": 400, "detail": "a field is wrong",
			"errors": [{"path": "query", "message": "is empty"}]}`), nil
	})
	_, err := client.Recall(t.Context(), hippocampus.RecallRequest{})
	const want = "hippocampus: invalid (400): a field is wrong; query is empty"
	failure, ok := errors.AsType[*hippocampus.Error](err)
	if !ok || failure.Error() != want || failure.RequestID != "r-1" {
		t.Errorf("the error is %q of %+v", err, failure)
	}
}
