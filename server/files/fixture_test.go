package files_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hippocampus/internal/memory"
	"hippocampus/server/app"
	"hippocampus/server/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a server on SQLite with keys of the app "mine", and a key of the app "theirs" that may write.
type fixture struct {
	t                     *testing.T
	url                   string
	client                *http.Client
	write, read, stranger string
}

// output collects the output of the server.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

var address = regexp.MustCompile(`listening on (http://\S+)`)

func newFixture(t *testing.T) *fixture {
	t.Helper()
	cfg := config.Default()
	cfg.Listen, cfg.Data = "127.0.0.1:0", t.TempDir()
	var out output
	host := app.Host{Out: &out, Err: io.Discard, Now: time.Now}
	f := &fixture{t: t, client: &http.Client{Transport: &http.Transport{}}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- app.Run(ctx, cfg, host) }()
	t.Cleanup(func() {
		f.client.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	for deadline := time.Now().Add(5 * time.Minute); f.url == ""; time.Sleep(10 * time.Millisecond) {
		if found := address.FindStringSubmatch(out.String()); found != nil {
			f.url = found[1]
		}
		if time.Now().After(deadline) {
			t.Fatal("the server does not listen")
		}
	}
	key := func(appID string, role memory.Role) string {
		secret, _, err := app.CreateKey(t.Context(), cfg, host, memory.Key{AppID: appID, Role: role})
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	f.write, f.read = key("mine", memory.RoleWrite), key("mine", memory.RoleRead)
	f.stranger = key("theirs", memory.RoleWrite)
	return f
}

// answer is an answer of the server.
type answer struct {
	status int
	header http.Header
	body   string
}

// send sends a request with a key. headers are NAME and VALUE in turn.
func (f *fixture) send(key, method, path, body string, headers ...string) answer {
	f.t.Helper()
	request, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := f.client.Do(request)
	if err != nil {
		f.t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(raw)}
}

// want is send with an expected status.
func (f *fixture) want(status int, key, method, path, body string, headers ...string) answer {
	f.t.Helper()
	got := f.send(key, method, path, body, headers...)
	if got.status != status {
		f.t.Fatalf("%s %s: status %d, want %d: %s", method, path, got.status, status, got.body)
	}
	return got
}

// remember writes a memory of Ada and returns its id.
func (f *fixture) remember(content, agent string) string {
	f.t.Helper()
	fields := map[string]string{"user_id": "ada", "content": content}
	if agent != "" {
		fields["agent_id"] = agent
	}
	body, _ := json.Marshal(fields) // strings
	var m struct{ ID string }
	if err := json.Unmarshal([]byte(f.want(201, f.write, "POST", "/v1/memories", string(body)).body), &m); err != nil {
		f.t.Fatal(err)
	}
	return m.ID
}

// synchronize sends a file and returns the report.
func (f *fixture) synchronize(query, file string) (r report) {
	f.t.Helper()
	got := f.want(200, f.write, "PUT", path+query, file, "Accept", "application/json")
	if err := json.Unmarshal([]byte(got.body), &r); err != nil {
		f.t.Fatal(err)
	}
	return r
}

const path = "/v1/files/memory.md"

type report struct {
	File                             string
	Added, Changed, Forgotten, Shown []string
	Conflicts                        []struct {
		ID     string
		KeptAs string `json:"kept_as"`
		Line   int
	}
}
