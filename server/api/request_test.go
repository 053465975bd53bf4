package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/labstack/echo/v4"

	"hippocampus/server/frame"
)

const (
	aQuery = `{"user_id":"u","query":"q"}`
	aTurn  = `{"user_id":"u","messages":[{"role":"user","content":"I moved to Lisbon."}]}`
)

// send makes a request with the admin key and checks the answer against openapi.yaml.
// headers are pairs of name and value.
func (f *fixture) send(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	f.t.Helper()
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
	f.ServeHTTP(&leaver{w, leave}, r.WithContext(ctx))
	if w.Header().Get(echo.HeaderXRequestID) == "" {
		f.t.Errorf("%s %s: no request id in the answer", method, target)
	}
	f.checkAnswer(r, w)
	return w
}

// leaver is a client that leaves an event stream when it begins.
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

// checkAnswer checks an answer against openapi.yaml.
func (f *fixture) checkAnswer(r *http.Request, w *httptest.ResponseRecorder) {
	f.t.Helper()
	c := f.router.NewContext(r, nil)
	f.router.Router().Find(r.Method, echo.GetPath(r), c)
	path := frame.ContractPath(c.Path())
	item := f.contract.Paths.Value(path)
	if item == nil || item.GetOperation(r.Method) == nil {
		return // unknown route: the answer is a problem
	}
	stream := slices.Contains([]string{ndjson, eventStream}, w.Header().Get("Content-Type"))
	err := openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: r,
			Route: &routers.Route{Spec: f.contract, Path: path, PathItem: item, Method: r.Method,
				Operation: item.GetOperation(r.Method)},
		},
		Status: w.Code, Header: w.Header(), Body: io.NopCloser(strings.NewReader(w.Body.String())),
		Options: &openapi3filter.Options{
			IncludeResponseStatus: true,
			ExcludeResponseBody:   path == "/openapi.yaml" || stream, // not JSON
		},
	})
	if err != nil {
		f.t.Errorf("%s %s answers %d against openapi.yaml: %v", r.Method, path, w.Code, err)
	}
}

// want sends a request and requires a status.
func (f *fixture) want(status int, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	f.t.Helper()
	w := f.send(method, target, body, headers...)
	if w.Code != status {
		f.t.Fatalf("%s %s: %d, want %d: %s", method, target, w.Code, status, w.Body)
	}
	return w
}

// want sends a request, requires a status and decodes the answer.
func fetch[T any](f *fixture, status int, method, target, body string, headers ...string) T {
	f.t.Helper()
	return parse[T](f.t, f.want(status, method, target, body, headers...))
}

// wantPaths requires a 400 that names exactly these fields.
func (f *fixture) wantPaths(method, target, body string, paths ...string) {
	f.t.Helper()
	w := f.want(http.StatusBadRequest, method, target, body)
	got := map[string]bool{}
	for _, e := range parse[frame.Problem](f.t, w).Errors {
		got[e.Path] = true
		if e.Message == "" {
			f.t.Errorf("%s has no message", e.Path)
		}
	}
	for _, path := range paths {
		if !got[path] {
			f.t.Errorf("%s %s %.200s: no error for %q in %s", method, target, body, path, w.Body)
		}
	}
	if len(got) != len(paths) {
		f.t.Errorf("%s %s %.200s: %d errors, want %d: %s", method, target, body, len(got), len(paths), w.Body)
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

// filled returns a path of openapi.yaml with an id in it.
func filled(path, id string) string { return strings.ReplaceAll(path, "{id}", id) }

// A client that sends a too large body to its end before it reads gets the answer, not a broken connection.
func TestRequest_TooLargeBodyIsAnswered(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(newFixture(t, nil))
	t.Cleanup(server.Close)
	body := strings.Repeat(" ", 8<<20)
	for name, rest := range map[string]string{
		"of known length": fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body),
		"in chunks":       fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body),
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			const head = "POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer admin\r\n" +
				"Content-Type: application/json\r\n"
			if _, err := io.WriteString(conn, head+rest); err != nil {
				t.Fatal(err)
			}
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != http.StatusRequestEntityTooLarge {
				t.Errorf("status %s", answer.Status)
			}
		})
	}
}
