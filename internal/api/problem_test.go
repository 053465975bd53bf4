package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"hippocampus/internal/memory"
	"hippocampus/recall"
)

const aQuery = `{"user_id":"u","query":"q"}`

func filled(path string) string { return strings.ReplaceAll(path, "{id}", someID) }

func mustJSON(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestEveryKindBecomesItsProblem(t *testing.T) {
	t.Parallel()
	statuses := map[memory.Kind]int{
		memory.KindInvalid: 400, memory.KindUnauthorized: 401, memory.KindForbidden: 403, memory.KindNotFound: 404,
		memory.KindConflict: 409, memory.KindTooLarge: 413, memory.KindTooFast: 429,
		memory.KindUnavailable: 503, memory.KindBadAnswer: 502, memory.KindInternal: 500,
	}
	for _, kind := range memory.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			b.err = fmt.Errorf("writing a memory: %w", memory.Errorf(kind, "the secret"))
			w := b.want(statuses[kind], "PATCH", "/v1/memories/"+someID, `{"content":"c"}`, "X-Request-Id", "r-1")
			p := parse[Problem](t, w)
			if w.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("Content-Type %q", w.Header().Get("Content-Type"))
			}
			if p.Type != "urn:hippocampus:problem:"+string(kind) || p.Title == "" || p.Status != w.Code ||
				p.Instance != "/v1/memories/"+someID || p.RequestID != "r-1" {
				t.Errorf("%+v", p)
			}
			if hidden := p.Status >= 500; strings.Contains(p.Detail, "the secret") == hidden {
				t.Errorf("detail %q", p.Detail)
			}
			if retry := w.Header().Get("Retry-After"); (retry != "") != (p.Status == 429 || p.Status == 503) {
				t.Errorf("Retry-After %q", retry)
			}
			if auth := w.Header().Get("WWW-Authenticate"); (auth != "") != (p.Status == 401) {
				t.Errorf("WWW-Authenticate %q", auth)
			}
		})
	}
}

// The rows that HTTP itself or the server's own checks produce, not a fake.
func TestProblemsOfTheServerItself(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.BodyLimit = 100; o.RateLimit = 0 })
	big := `{"user_id":"u","query":"` + strings.Repeat("x", 200) + `"}`
	for _, c := range []struct {
		status       int
		kind         string
		method, path string
		body         string
		headers      []string
	}{
		{400, "invalid", "POST", "/v1/recall", `{}`, nil},
		{401, "unauthorized", "POST", "/v1/recall", aQuery, []string{"Authorization", ""}},
		{403, "forbidden", "DELETE", "/v1/memories/" + someID, "", []string{"Authorization", "Bearer read"}},
		{404, "not_found", "GET", "/v1/nothing", "", nil},
		{404, "not_found", "GET", "/", "", nil},
		{404, "not_found", "GET", "/v1/memories/nobody", "", nil},
		{405, "method_not_allowed", "PUT", "/v1/memories", "", nil},
		{405, "method_not_allowed", "GET", "/v1/recall", "", nil},
		{413, "too_large", "POST", "/v1/recall", big, nil},
		{415, "unsupported_media_type", "POST", "/v1/recall", aQuery, []string{"Content-Type", "text/plain"}},
		{415, "unsupported_media_type", "POST", "/v1/recall", aQuery, []string{"Content-Type", ""}},
		{415, "unsupported_media_type", "POST", "/v1/recall", aQuery, []string{"Content-Encoding", "gzip"}},
	} {
		w := b.want(c.status, c.method, c.path, c.body, c.headers...)
		if p := parse[Problem](t, w); p.Type != problemType+c.kind || p.Detail == "" {
			t.Errorf("%s %s: %+v", c.method, c.path, p)
		}
	}
	if allow := b.send("PUT", "/v1/memories", "").Header().Get("Allow"); !strings.Contains(allow, "POST") {
		t.Errorf("Allow %q", allow)
	}
}

func TestBodyOfUnknownLengthIsLimited(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.BodyLimit = 100 })
	r := httptest.NewRequest("POST", "/v1/recall", struct{ *strings.Reader }{strings.NewReader(strings.Repeat(" ", 101) + aQuery)})
	r.ContentLength = -1
	r.Header.Set("Authorization", "Bearer read")
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestRetryAfterIsWholeSecondsRoundedUp(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.err = &memory.Error{Kind: memory.KindUnavailable, Err: errors.New("away"), RetryAfter: 1100 * time.Millisecond}
	if got := b.want(503, "POST", "/v1/recall", aQuery).Header().Get("Retry-After"); got != "2" {
		t.Errorf("Retry-After %q", got)
	}
}

func TestADeadlineIsUnavailable(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.err = fmt.Errorf("reading: %w", context.DeadlineExceeded)
	b.want(503, "POST", "/v1/recall", aQuery)
}

type panicking struct{ Recaller }

func (panicking) Recall(context.Context, recall.Query) (recall.Answer, error) { panic("secret text") }

func TestAPanicIsAnInternalError(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.InfoLevel)
	b := newBench(t, func(o *Options) { o.Recaller = panicking{}; o.Logger = zap.New(core) })
	w := b.want(500, "POST", "/v1/recall", aQuery)
	if strings.Contains(w.Body.String(), "secret") {
		t.Errorf("the client is told: %s", w.Body)
	}
	if logs.FilterMessage("panic in a handler").Len() != 1 {
		t.Error("the panic is not in the log")
	}
}

// A client that leaves is neither answered nor an error of ours.
func TestAClientThatLeaves(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.InfoLevel)
	b := newBench(t, func(o *Options) { o.Logger = zap.New(core) })
	b.err = memory.Errorf(memory.KindUnavailable, "asking: %w", context.Canceled)
	ctx, leave := context.WithCancel(context.Background())
	leave()
	r := httptest.NewRequestWithContext(ctx, "POST", "/v1/recall", strings.NewReader(aQuery))
	r.Header.Set("Authorization", "Bearer read")
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	line := logs.FilterMessage("request").All()
	if len(line) != 1 || line[0].Level != zap.InfoLevel || line[0].ContextMap()["status"] != int64(statusGone) {
		t.Errorf("%+v", line)
	}
	if w.Body.Len() != 0 {
		t.Errorf("answered %s", w.Body)
	}
}
