package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/ingest"
	"hippocampus/internal/memory"
	"hippocampus/recall"
	"hippocampus/router"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

const someID = "0198c0de-0000-7000-8000-000000000001"

// fake stands behind the API: it records what it is asked and answers with
// plausible rows, or with err.
type fake struct {
	mu     sync.Mutex
	err    error
	clock  time.Time
	issued map[string]memory.Key // by hash

	turns    map[string]memory.Turn // by client id
	status   memory.TurnStatus      // of turns
	hang     bool                   // Await waits for its context
	verdict  memory.Verdict         // of writes
	batchErr error                  // of every second write of a batch

	turn    memory.Turn
	write   ingest.Write
	change  ingest.Change
	query   recall.Query
	list    db.MemoryFilter
	listing db.TurnFilter
	ref     string
	touched []string
	rows    int // how many rows a list has
	lookups int // of keys
	answer  recall.Answer
}

func (f *fake) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clock
}

func (f *fake) advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clock = f.clock.Add(d)
}

func someMemory(appID string) memory.Memory {
	return memory.Memory{
		ID: someID, Owner: memory.Owner{AppID: appID, UserID: "u"}, Content: "Is allergic to peanuts.",
		Type: memory.TypeFact, Domain: memory.Preferences, Importance: 0.8, Status: memory.Active,
		CreatedAt: noon, UpdatedAt: noon, LastAccessedAt: noon, Metadata: json.RawMessage(`{"a":1}`),
	}
}

func (f *fake) Accept(_ context.Context, t memory.Turn) (memory.Turn, bool, error) {
	if f.err != nil {
		return memory.Turn{}, false, f.err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turn = t
	if first, ok := f.turns[t.ClientID]; ok && t.ClientID != "" {
		first.Status = f.status
		return first, false, nil
	}
	t.ID, t.Status, t.AcceptedAt = someID, memory.TurnAccepted, noon
	if t.At.IsZero() {
		t.At = noon
	}
	f.turns[t.ClientID] = t
	return t, true, nil
}

func (f *fake) Await(ctx context.Context, appID, id string) (ingest.Outcome, error) {
	if f.hang {
		<-ctx.Done()
		return ingest.Outcome{}, ctx.Err()
	}
	return f.Outcome(ctx, appID, id)
}

func (f *fake) Outcome(_ context.Context, appID, ref string) (ingest.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ref = ref
	return ingest.Outcome{
		Turn: memory.Turn{
			ID: someID, Owner: memory.Owner{AppID: appID, UserID: "u"}, Status: f.status,
			Messages: []memory.Message{{Role: "user", Content: "hello"}}, At: noon, AcceptedAt: noon, ProcessedAt: noon,
		},
		Candidates: []memory.Candidate{{Content: "Lives in Lisbon.", Importance: .9, Domain: memory.Lifestyle, Type: memory.TypeFact,
			Verdict: memory.Kept, Reason: "important", Scorer: "rules", MemoryID: someID}},
	}, f.err
}

func (f *fake) Replay(_ context.Context, appID, id string) (memory.Turn, error) {
	return memory.Turn{ID: id, Owner: memory.Owner{AppID: appID, UserID: "u"}, Status: memory.TurnAccepted, At: noon, AcceptedAt: noon}, f.err
}

func (f *fake) Write(_ context.Context, w ingest.Write) (ingest.Written, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.write = w
	return ingest.Written{Memory: someMemory(w.Owner.AppID), Verdict: f.verdict}, f.err
}

func (f *fake) WriteBatch(ctx context.Context, writes []ingest.Write) []ingest.BatchResult {
	var results []ingest.BatchResult
	for i, w := range writes {
		written, err := f.Write(ctx, w)
		if i%2 == 1 {
			err = f.batchErr
		}
		results = append(results, ingest.BatchResult{Written: written, Err: err})
	}
	return results
}

func (f *fake) Change(_ context.Context, appID, _ string, c ingest.Change) (memory.Memory, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.change = c
	return someMemory(appID), f.err
}

func (f *fake) Forget(_ context.Context, appID, _ string) (memory.Memory, error) {
	return someMemory(appID), f.err
}

func (f *fake) Restore(_ context.Context, appID, _ string) (memory.Memory, error) {
	return someMemory(appID), f.err
}

func (f *fake) Recall(_ context.Context, q recall.Query) (recall.Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.query = q
	return f.answer, f.err
}

func (f *fake) Touch(ids []string, _ time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.touched = append(f.touched, ids...)
}

func (f *fake) ListTurns(_ context.Context, filter db.TurnFilter) ([]memory.Turn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listing = filter
	return make([]memory.Turn, min(f.rows, filter.Limit)), f.err
}

func (f *fake) Memory(_ context.Context, appID, _ string) (memory.Memory, error) {
	return someMemory(appID), f.err
}

func (f *fake) ListMemories(_ context.Context, filter db.MemoryFilter) ([]memory.Memory, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = filter
	var memories []memory.Memory
	for range min(f.rows, filter.Limit) {
		memories = append(memories, someMemory(filter.Owner.AppID))
	}
	return memories, f.err
}

func (f *fake) History(_ context.Context, _, id string) ([]memory.Event, error) {
	return []memory.Event{{ID: someID, MemoryID: id, Kind: memory.EventCreated, Cause: "api", At: noon}}, f.err
}

func (f *fake) Stats(context.Context, string) (db.Stats, error) {
	return db.Stats{Users: 1, Memories: map[memory.Status]int{memory.Active: 2}}, f.err
}

func (f *fake) KeyByHash(_ context.Context, hash string) (memory.Key, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lookups++
	key, ok := f.issued[hash]
	if !ok {
		return key, memory.Errorf(memory.KindNotFound, "no such key")
	}
	return key, nil
}

// bench is an API on a fake, with the keys "read", "write" and "admin".
type bench struct {
	*fake
	*Server
	t testing.TB
}

func newBench(t testing.TB, change func(*Options)) *bench {
	t.Helper()
	f := &fake{clock: noon, issued: map[string]memory.Key{}, turns: map[string]memory.Turn{}, status: memory.TurnProcessed, verdict: memory.Kept}
	for _, role := range memory.Roles {
		f.issued[HashKey(string(role))] = memory.Key{ID: "key-" + string(role), AppID: "app", Role: role}
	}
	f.answer = recall.Answer{
		Memories: []recall.Recalled{{Memory: someMemory("app"), Similarity: .7, Relevance: 1, Decay: 1, Importance: .8, Score: .9, Sources: []string{"vector"}}},
		Route:    router.Route{Domains: []memory.Domain{memory.Preferences}, Source: "rules"}, At: noon,
	}
	o := Options{
		Ingest: f, Recaller: f, Turns: f, Memories: f, Stats: f, Keys: f,
		Registerer: prometheus.NewRegistry(), Logger: zap.NewNop(), Now: f.now,
	}
	if change != nil {
		change(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{f, s, t}
}

// send makes a request with the admin key and holds the answer to openapi.yaml.
// headers are pairs of name and value.
func (b *bench) send(method, target, body string, headers ...string) *httptest.ResponseRecorder {
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
	b.ServeHTTP(w, r)
	if w.Header().Get(echo.HeaderXRequestID) == "" {
		b.t.Errorf("%s %s: no request id in the answer", method, target)
	}
	b.checkAnswer(r, w)
	return w
}

// checkAnswer holds an answer to what openapi.yaml says of its route.
func (b *bench) checkAnswer(r *http.Request, w *httptest.ResponseRecorder) {
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
			ExcludeResponseBody:   path == "/openapi.yaml", // it would be read as YAML, not as a string
		},
	})
	if err != nil {
		b.t.Errorf("%s %s answers %d against openapi.yaml: %v", r.Method, path, w.Code, err)
	}
}

// want sends a request and requires a status.
func (b *bench) want(status int, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	w := b.send(method, target, body, headers...)
	if w.Code != status {
		b.t.Fatalf("%s %s: %d, want %d: %s", method, target, w.Code, status, w.Body)
	}
	return w
}

// wantPaths requires a 400 that names exactly these fields.
func (b *bench) wantPaths(method, target, body string, paths ...string) {
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
