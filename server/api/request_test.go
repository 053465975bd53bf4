package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/labstack/echo/v4"
)

const (
	aQuery = `{"user_id":"u","query":"q"}`
	aTurn  = `{"user_id":"u","messages":[{"role":"user","content":"I moved to Lisbon."}]}`
)

// send makes a request with the admin key and holds the answer to openapi.yaml.
// headers are pairs of name and value.
func (b *fixture) send(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer admin")
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Del(headers[i])
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	ctx, leave := context.WithCancel(r.Context())
	defer leave()
	b.ServeHTTP(&leaver{w, leave}, r.WithContext(ctx))
	if w.Header().Get(echo.HeaderXRequestID) == "" {
		b.t.Errorf("%s %s: no request id in the answer", method, target)
	}
	b.checkAnswer(r, w)
	return w
}

// leaver is a client that leaves a stream of events when that begins.
type leaver struct {
	*httptest.ResponseRecorder
	leave func()
}

func (l *leaver) Flush() {
	if l.Header().Get("Content-Type") == eventStream {
		l.leave()
	}
	l.ResponseRecorder.Flush()
}

// checkAnswer holds an answer to what openapi.yaml says of its route.
func (b *fixture) checkAnswer(r *http.Request, w *httptest.ResponseRecorder) {
	b.t.Helper()
	c := b.echo.NewContext(r, nil)
	b.echo.Router().Find(r.Method, echo.GetPath(r), c)
	path := contractPath(c.Path())
	item := b.contract.doc.Paths.Value(path)
	if item == nil || item.GetOperation(r.Method) == nil {
		return // no such route: the answer is a problem
	}
	err := openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: r,
			Route:   &routers.Route{Spec: b.contract.doc, Path: path, PathItem: item, Method: r.Method, Operation: item.GetOperation(r.Method)},
		},
		Status: w.Code, Header: w.Header(), Body: io.NopCloser(strings.NewReader(w.Body.String())),
		Options: &openapi3filter.Options{
			IncludeResponseStatus: true,
			ExcludeResponseBody:   path == "/openapi.yaml" || slices.Contains([]string{ndjson, eventStream}, w.Header().Get("Content-Type")), // none would be read as a string
		},
	})
	if err != nil {
		b.t.Errorf("%s %s answers %d against openapi.yaml: %v", r.Method, path, w.Code, err)
	}
}

// want sends a request and requires a status.
func (b *fixture) want(status int, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	w := b.send(method, target, body, headers...)
	if w.Code != status {
		b.t.Fatalf("%s %s: %d, want %d: %s", method, target, w.Code, status, w.Body)
	}
	return w
}

// wantPaths requires a 400 that names exactly these fields.
func (b *fixture) wantPaths(method, target, body string, paths ...string) {
	b.t.Helper()
	w := b.want(http.StatusBadRequest, method, target, body)
	got := map[string]bool{}
	for _, e := range parse[Problem](b.t, w).Errors {
		got[e.Path] = true
		if e.Message == "" {
			b.t.Errorf("%s has no message", e.Path)
		}
	}
	for _, path := range paths {
		if !got[path] {
			b.t.Errorf("%s %s %.200s: no error for %q in %s", method, target, body, path, w.Body)
		}
	}
	if len(got) != len(paths) {
		b.t.Errorf("%s %s %.200s: %d errors, want %d: %s", method, target, body, len(got), len(paths), w.Body)
	}
}

func parse[T any](t testing.TB, w *httptest.ResponseRecorder) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return v
}

func mustJSON(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// filled is a path of openapi.yaml with an id in it.
func filled(path, id string) string { return strings.ReplaceAll(path, "{id}", id) }
