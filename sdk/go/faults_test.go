package hippocampus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	hippocampus "hippocampus/sdk/go"
	"hippocampus/sdk/go/api"
)

// faultRow is a row of sdk/testdata/faults.json.
type faultRow struct {
	Name     string
	Request  string
	Answers  []faultAnswer
	Attempts int
	Waits    []float64
	SameID   bool `json:"same_id"`
	Result   json.RawMessage
}

type faultAnswer struct {
	Status     int
	RetryAfter string `json:"retry_after"`
	Kind       string
	Errors     []hippocampus.FieldError
	HTML       bool
	Stream     *string // the body of a stream

	Cut, Stall, Trickle bool
}

// The clock of the test is not the machine's: nothing waits, and all waits are
// measured exactly.
func TestClient_DoesWhatTheTableOfFaultsStates(t *testing.T) {
	t.Parallel()
	var table struct {
		Policy struct {
			Retries      int
			LongestWait  float64 `json:"longest_wait"`
			FirstBackoff float64 `json:"first_backoff"`
		}
		Rows []faultRow
	}
	readJSON(t, "../testdata/faults.json", &table)
	if table.Policy.Retries != hippocampus.DefaultRetries ||
		table.Policy.LongestWait != hippocampus.DefaultLongestWait.Seconds() {
		t.Errorf("the policy is %+v, but the client's defaults are others", table.Policy)
	}
	for _, row := range table.Rows {
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { row.play(t) })
		})
	}
}

func (row faultRow) play(t *testing.T) {
	played := &faultServer{row: row, pipes: make(chan net.Conn)}
	serving := &http.Server{Handler: played, ReadHeaderTimeout: time.Hour}
	go serving.Serve(played)
	defer serving.Close()
	transport := &http.Transport{DialContext: played.dial}
	defer transport.CloseIdleConnections()
	client, err := hippocampus.New(
		hippocampus.WithURL("http://faults"), hippocampus.WithKey("key"),
		hippocampus.WithHTTPClient(&http.Client{Transport: transport}),
	)
	if err != nil {
		t.Fatal(err)
	}
	err = send(t.Context(), client, row.Request)
	row.checkResult(t, err)
	played.mu.Lock()
	defer played.mu.Unlock()
	row.checkAttempts(t, played.attempts)
}

// send makes one request of the table.
func send(ctx context.Context, client *hippocampus.Client, request string) (err error) {
	memory := hippocampus.MemoryRequest{UserID: "ada", Content: "Likes green tea."}
	switch request {
	case "recall":
		_, err = client.Recall(ctx, hippocampus.RecallRequest{UserID: "ada", Query: "tea?"})
	case "turn":
		turn := hippocampus.TurnRequest{UserID: "ada", Messages: []hippocampus.Message{hippocampus.UserMessage("Hello.")}}
		_, err = client.AddTurn(ctx, turn)
	case "get":
		_, err = client.Memory(ctx, "0198c0de-0000-7000-8000-000000000001", hippocampus.GetMemoryParams{})
	case "update":
		_, err = client.Pin(ctx, "0198c0de-0000-7000-8000-000000000001")
	case "reflect":
		_, err = client.Reflect(ctx, hippocampus.ReflectRequest{UserID: "ada"})
	case "events":
		for _, err = range client.Events(ctx, hippocampus.StreamEventsParams{}) {
			return err // the first event, or the error
		}
		err = errors.New("the events end without an error")
	case "export":
		var export io.ReadCloser
		if export, err = client.Export(ctx, hippocampus.ExportMemoriesParams{}); err != nil {
			return err
		}
		defer export.Close()
		_, err = io.Copy(io.Discard, export)
	case "remember":
		_, err = client.Remember(ctx, memory)
	case "remember many":
		_, err = client.RememberMany(ctx, []hippocampus.MemoryRequest{memory})
	case "withdraw":
		_, err = client.WithdrawTurn(ctx, "0198c0de-0000-7000-8000-000000000001")
	case "set user":
		_, err = client.SetUser(ctx, "ada", hippocampus.UserRequest{TimeZone: new("Asia/Shanghai")})
	case "remember with dedup":
		memory.Dedup = new(true)
		_, err = client.Remember(ctx, memory)
	default:
		return fmt.Errorf("the table has the unknown request %q", request)
	}
	return err
}

func (row faultRow) checkResult(t *testing.T, err error) {
	t.Helper()
	if string(row.Result) == `"ok"` {
		if err != nil {
			t.Error(err)
		}
		return
	}
	var want struct {
		Kind       hippocampus.Kind
		Status     int
		Errors     []hippocampus.FieldError
		RetryAfter *float64 `json:"retry_after"` // nil: not compared, as with a date
	}
	if err := json.Unmarshal(row.Result, &want); err != nil {
		t.Fatal(err)
	}
	got, ok := errors.AsType[*hippocampus.Error](err)
	if !ok {
		t.Fatalf("the error is %v, not an *Error", err)
	}
	if !errors.Is(err, want.Kind) || got.Status != want.Status || !reflect.DeepEqual(got.Errors, want.Errors) ||
		want.RetryAfter != nil && got.RetryAfter.Seconds() != *want.RetryAfter {
		t.Errorf("the error is %+v, not %+v", got, want)
	}
}

func (row faultRow) checkAttempts(t *testing.T, attempts []faultAttempt) {
	t.Helper()
	if len(attempts) != row.Attempts {
		t.Fatalf("there are %d attempts, not %d", len(attempts), row.Attempts)
	}
	for i, least := range row.Waits {
		wait := attempts[i+1].at.Sub(attempts[i].at).Seconds()
		if attempts[i].stalled {
			wait -= hippocampus.DefaultTimeout.Seconds()
		}
		if wait < least || wait > 1.25*least {
			t.Errorf("wait %d is %.3f s, not %g s or up to a quarter more", i, wait, least)
		}
	}
	if id := attempts[0].id; row.SameID {
		for _, attempt := range attempts {
			if id == "" || attempt.id != id {
				t.Errorf("the ids of the attempts are %q and %q", id, attempt.id)
			}
		}
	}
}

// faultServer plays the answers of a row over connections in memory.
type faultServer struct {
	row      faultRow
	pipes    chan net.Conn
	mu       sync.Mutex // guards attempts
	attempts []faultAttempt
}

type faultAttempt struct {
	at      time.Time
	id      string
	stalled bool
}

func (s *faultServer) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	s.pipes <- far
	return near, nil
}

func (s *faultServer) Accept() (net.Conn, error) {
	conn, ok := <-s.pipes
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (s *faultServer) Close() error   { close(s.pipes); return nil }
func (s *faultServer) Addr() net.Addr { return &net.UnixAddr{Name: "faults"} }

// note records an attempt and returns its answer.
func (s *faultServer) note(r *http.Request) faultAnswer {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := s.row.Answers[min(len(s.attempts), len(s.row.Answers)-1)]
	var sent struct{ ID string }
	json.NewDecoder(r.Body).Decode(&sent) // a GET has no body
	s.attempts = append(s.attempts, faultAttempt{time.Now(), sent.ID, answer.Stall || answer.Trickle})
	return answer
}

func (s *faultServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := s.note(r)
	switch {
	case answer.Stream != nil:
		answer.stream(w, r)
		return
	case answer.Trickle:
		w.Header().Set("Content-Type", "application/json")
		for r.Context().Err() == nil {
			w.Write([]byte(" "))
			w.(http.Flusher).Flush()
			select {
			case <-time.After(hippocampus.DefaultTimeout / 3):
			case <-r.Context().Done():
			}
		}
		return
	case answer.Cut:
		conn, _, _ := w.(http.Hijacker).Hijack()
		conn.Close()
		return
	case answer.Stall:
		<-r.Context().Done()
		return
	}
	if answer.RetryAfter != "" {
		w.Header().Set("Retry-After", answer.RetryAfter)
	}
	if answer.Status == http.StatusMovedPermanently {
		w.Header().Set("Location", "/elsewhere")
	}
	var text []byte
	switch {
	case answer.HTML:
		w.Header().Set("Content-Type", "text/html")
		text = []byte("<html>Bad Gateway</html>")
	case answer.Status >= http.StatusBadRequest:
		w.Header().Set("Content-Type", "application/problem+json")
		text, _ = json.Marshal(api.Problem{
			Type: "urn:hippocampus:problem:" + answer.Kind, Title: "A fault", Status: answer.Status, Errors: answer.Errors,
		})
	default:
		w.Header().Set("Content-Type", "application/json")
		text = []byte(`{}`)
		if strings.HasSuffix(r.URL.Path, "/recall") {
			text = []byte(`{"memories": [], "route": {"domains": [], "source": "off", "skipped": false}, "degraded": [],
				"at": "2026-01-31T08:00:00Z", "took_ms": 1}`)
		}
	}
	w.WriteHeader(answer.Status)
	w.Write(text)
}

// stream sends a stream, and cuts the connection after it if the answer is cut.
func (a faultAnswer) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	if strings.HasSuffix(r.URL.Path, "/events") {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	w.WriteHeader(a.Status)
	w.Write([]byte(*a.Stream))
	if a.Cut {
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

func readJSON(t testing.TB, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}
