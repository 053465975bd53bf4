package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/recall"
	"hippocampus/server/frame"
)

// failingEmbedder is an embedder whose calls fail.
type failingEmbedder struct {
	llm.Embedder
	err error
}

func (s failingEmbedder) Embed(context.Context, llm.Use, []string) ([][]float32, error) {
	return nil, s.err
}

// failing is a recaller whose calls fail.
type failing struct {
	Recaller
	err error
}

func (f failing) Recall(context.Context, recall.Query) (recall.Answer, error) {
	return recall.Answer{}, f.err
}

func TestProblem_OfEveryKind(t *testing.T) {
	t.Parallel()
	statuses := map[memory.Kind]int{
		memory.KindInvalid: 400, memory.KindUnauthorized: 401, memory.KindForbidden: 403, memory.KindNotFound: 404,
		memory.KindConflict: 409, memory.KindTooLarge: 413, memory.KindTooFast: 429,
		memory.KindBusy: 503, memory.KindUnavailable: 503, memory.KindNotTried: 503,
		memory.KindBadAnswer: 502, memory.KindInternal: 500,
	}
	f := newFixture(t, nil)
	before := f.peanuts()
	path := "/v1/memories/" + before.ID
	for _, kind := range memory.Kinds {
		f.service.Embedder = failingEmbedder{embedder, fmt.Errorf("embedding: %w", memory.Errorf(kind, "the secret"))}
		w := f.want(statuses[kind], "PATCH", path, `{"content":"c"}`, "X-Request-Id", "r-1")
		p := parse[frame.Problem](t, w)
		if w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: Content-Type %q", kind, w.Header().Get("Content-Type"))
		}
		if p.Type != "urn:hippocampus:problem:"+string(kind) || p.Title == "" || p.Status != w.Code ||
			p.Instance != path || p.RequestID != "r-1" {
			t.Errorf("%s: %+v", kind, p)
		}
		hidden := p.Status >= 500 && kind != memory.KindBusy && kind != memory.KindNotTried
		if strings.Contains(p.Detail, "the secret") == hidden {
			t.Errorf("%s: detail %q", kind, p.Detail)
		}
		if retry := w.Header().Get("Retry-After"); (retry != "") != (p.Status == 429 || p.Status == 503) {
			t.Errorf("%s: Retry-After %q", kind, retry)
		}
		if auth := w.Header().Get("WWW-Authenticate"); (auth != "") != (p.Status == 401) {
			t.Errorf("%s: WWW-Authenticate %q", kind, auth)
		}
	}
	if diff := cmp.Diff(before, f.stored(before.ID)); diff != "" {
		t.Errorf("a failed change changed the memory: %s", diff)
	}
}

// The detail has the part of a model's failure that any caller may read, and no other part of the error.
func TestProblem_SaysWhyAModelFails(t *testing.T) {
	t.Parallel()
	for _, kind := range []memory.Kind{memory.KindBadAnswer, memory.KindUnavailable} {
		cause := &memory.Error{Kind: kind, Err: errors.New("the secret"), Detail: "the balance is 0"}
		detail := frame.ProblemOf(fmt.Errorf("reflecting: %w", memory.Errorf(kind, "asking: %w", cause))).Detail
		if !strings.HasSuffix(detail, " The reason: the balance is 0.") || strings.Contains(detail, "the secret") {
			t.Errorf("%s: %q", kind, detail)
		}
	}
}

// These problems come from HTTP itself, from the server's checks and from its parts,
// without an injected fault.
func TestProblem_OfHTTPAndChecks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.limits.Body = 100 })
	id := f.peanuts().ID
	f.accept("u", "c-1", "I moved to Lisbon.")
	f.want(200, "DELETE", "/v1/memories/"+id, "")
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
		{404, "not_found", "GET", "/", "", []string{"Accept", "text/html"}}, // the program has no console
		{404, "not_found", "GET", "/console/", "", nil},
		{404, "not_found", "GET", "/v1/memories/nobody", "", nil},
		{404, "not_found", "GET", "/v1/memories/" + someID, "", nil},
		{404, "not_found", "GET", "/v1/memories/" + someID + "/history", "", nil},
		{404, "not_found", "PATCH", "/v1/memories/" + someID, `{"pinned":true}`, nil},
		{404, "not_found", "DELETE", "/v1/memories/" + someID, "", nil},
		{404, "not_found", "POST", "/v1/memories/" + someID + "/restore", "", nil},
		{404, "not_found", "GET", "/v1/turns/nobody", "", nil},
		{404, "not_found", "POST", "/v1/turns/nobody/replay", "", nil},
		{405, "method_not_allowed", "PUT", "/v1/memories", "", nil},
		{405, "method_not_allowed", "GET", "/v1/recall", "", nil},
		{409, "conflict", "PATCH", "/v1/memories/" + id, `{"pinned":true}`, nil},
		{409, "conflict", "POST", "/v1/turns", `{"id":"c-1","user_id":"u","messages":[{"role":"user","content":"Hi."}]}`,
			nil},
		{413, "too_large", "POST", "/v1/recall", big, nil},
		{415, "unsupported_media_type", "POST", "/v1/recall", aQuery, []string{"Content-Type", "text/plain"}},
		{415, "unsupported_media_type", "POST", "/v1/recall", aQuery, []string{"Content-Type", ""}},
		{415, "unsupported_media_type", "POST", "/v1/recall", aQuery, []string{"Content-Encoding", "gzip"}},
	} {
		w := f.want(c.status, c.method, c.path, c.body, c.headers...)
		if p := parse[frame.Problem](t, w); p.Type != "urn:hippocampus:problem:"+c.kind || p.Detail == "" {
			t.Errorf("%s %s: %+v", c.method, c.path, p)
		}
	}
	if allow := f.send("PUT", "/v1/memories", "").Header().Get("Allow"); !strings.Contains(allow, "POST") {
		t.Errorf("Allow %q", allow)
	}
}

func TestBody_UnknownLengthIsLimited(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.limits.Body = 100 })
	r := httptest.NewRequest("POST", "/v1/recall",
		struct{ *strings.Reader }{strings.NewReader(strings.Repeat(" ", 101) + aQuery)})
	r.ContentLength = -1
	r.Header.Set("Authorization", "Bearer read")
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestProblem_RetryAfterIsRoundedUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) {
		busy := &memory.Error{
			Kind: memory.KindUnavailable, Err: errors.New("unavailable"), RetryAfter: 1100 * time.Millisecond,
		}
		o.Recall.Recaller = failing{o.Recall.Recaller, busy}
	})
	if got := f.want(503, "POST", "/v1/recall", aQuery).Header().Get("Retry-After"); got != "2" {
		t.Errorf("Retry-After %q", got)
	}
}

func TestProblem_DeadlineIsUnavailable(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) {
		o.Recall.Recaller = failing{o.Recall.Recaller, fmt.Errorf("reading: %w", context.DeadlineExceeded)}
	})
	f.want(503, "POST", "/v1/recall", aQuery)
}

// Without the database every request fails, without the embedder only writes do.
func TestProblem_MissingPartIsUnavailable(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	id := f.peanuts().ID
	turn := f.accept("u", "", "I moved to Lisbon.").ID
	write := `{"user_id":"u","content":"c"}`
	f.service.Embedder = failingEmbedder{embedder, memory.Errorf(memory.KindUnavailable, "the embedder is unavailable")}
	f.want(503, "POST", "/v1/memories", write)
	f.want(202, "POST", "/v1/turns", aTurn)
	f.want(200, "POST", "/v1/recall", aQuery)

	f.service.Embedder = embedder
	f.must(f.store.Close()) // the admin key is cached
	for _, c := range [][3]string{
		{"POST", "/v1/turns", aTurn}, {"GET", "/v1/turns", ""}, {"GET", "/v1/turns/" + turn, ""}, {"POST",
			"/v1/turns/" + turn + "/replay", ""},
		{"POST", "/v1/memories", write}, {"GET", "/v1/memories?user_id=u", ""}, {"GET", "/v1/memories/" + id, ""},
		{"PATCH", "/v1/memories/" + id, `{"pinned":true}`}, {"DELETE", "/v1/memories/" + id, ""},
		{"GET", "/v1/memories/" + id + "/history", ""}, {"POST", "/v1/memories/" + id + "/restore", ""},
		{"POST", "/v1/recall", aQuery}, {"POST", "/v1/context", aQuery}, {"GET", "/v1/stats", ""},
	} {
		if w := f.want(503, c[0], c[1], c[2]); w.Header().Get("Retry-After") == "" {
			t.Errorf("%s %s: no Retry-After", c[0], c[1])
		}
	}
	f.want(503, "GET", "/v1/stats", "", "Authorization", "Bearer read")
}

type panicking struct{ Recaller }

func (panicking) Recall(context.Context, recall.Query) (recall.Answer, error) { panic("secret text") }

func TestProblem_PanicIsInternal(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.InfoLevel)
	f := newFixture(t, func(o *Options) { o.Recall.Recaller = panicking{o.Recall.Recaller}; o.Logger = zap.New(core) })
	w := f.want(500, "POST", "/v1/recall", aQuery)
	if strings.Contains(w.Body.String(), "secret") {
		t.Errorf("the answer has the text of the panic: %s", w.Body)
	}
	if logs.FilterMessage("panic in a handler").Len() != 1 {
		t.Error("the panic is not in the log")
	}
}

// leaving is a recaller whose client leaves during the query.
type leaving struct {
	Recaller
	leave func()
}

func (l leaving) Recall(ctx context.Context, q recall.Query) (recall.Answer, error) {
	l.leave()
	return l.Recaller.Recall(ctx, q)
}

// The server neither answers a client that has left nor logs an error.
func TestAccess_ClientThatLeavesIsNoError(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.InfoLevel)
	ctx, leave := context.WithCancel(t.Context())
	f := newFixture(t, func(o *Options) {
		o.Recall.Recaller = leaving{o.Recall.Recaller, leave}
		o.Logger = zap.New(core)
	})
	r := httptest.NewRequestWithContext(ctx, "POST", "/v1/recall", strings.NewReader(aQuery))
	r.Header.Set("Authorization", "Bearer read")
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	line := logs.FilterMessage("request").All()
	if len(line) != 1 || line[0].Level != zap.InfoLevel || line[0].ContextMap()["status"] != int64(499) {
		t.Errorf("%+v", line)
	}
	if w.Body.Len() != 0 {
		t.Errorf("answered %s", w.Body)
	}
}
