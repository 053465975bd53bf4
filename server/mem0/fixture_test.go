package mem0_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"go.uber.org/goleak"

	"hippocampus/internal/memory"
	"hippocampus/server/app"
	"hippocampus/server/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a server on SQLite with keys of the app "mine", and a key of the app "theirs" that may write.
type fixture struct {
	t                            *testing.T
	url                          string
	client                       *http.Client
	admin, write, read, stranger string
	document                     *openapi3.T // that the server serves
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

const longTime = 5 * time.Minute // a test waits this long before it fails

// newFixture starts a server.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	cfg := config.Default()
	cfg.Listen, cfg.Data = "127.0.0.1:0", t.TempDir()
	cfg.API.AuthFailures = 0
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
	for deadline := time.Now().Add(longTime); f.url == ""; time.Sleep(10 * time.Millisecond) {
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
	f.admin, f.write, f.read = key("mine", memory.RoleAdmin), key("mine", memory.RoleWrite), key("mine", memory.RoleRead)
	f.stranger = key("theirs", memory.RoleAdmin)
	f.document = f.readDocument()
	return f
}

// reply is an answer.
type reply struct {
	status int
	header http.Header
	raw    string
	object map[string]any // nil if the body is no object
	list   []any          // nil if the body is no list
}

// send sends a request as a client of mem0 does. A body that is not a string is sent as JSON.
func (f *fixture) send(key, method, path string, body any) reply {
	f.t.Helper()
	text, isText := body.(string)
	if !isText && body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			f.t.Fatal(err)
		}
		text = string(raw)
	}
	r, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, strings.NewReader(text))
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Token "+key)
	r.Header.Set("Content-Type", "application/json")
	return f.do(r)
}

func (f *fixture) do(r *http.Request) reply {
	f.t.Helper()
	response, err := f.client.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	a := reply{status: response.StatusCode, header: response.Header, raw: string(raw)}
	_ = json.Unmarshal(raw, &a.object)
	_ = json.Unmarshal(raw, &a.list)
	if strings.HasPrefix(r.URL.Path, "/mem0/") {
		f.checkDocument(r, a)
	}
	return a
}

// want is send for a request that succeeds.
func (f *fixture) want(method, path string, body any) reply {
	f.t.Helper()
	a := f.send(f.write, method, path, body)
	if a.status != http.StatusOK {
		f.t.Fatalf("%s %s %v: %d %s", method, path, body, a.status, a.raw)
	}
	return a
}

// refused fails the test unless an answer is an error in mem0's form whose detail has a part.
func (f *fixture) refused(a reply, status int, part string) {
	f.t.Helper()
	text, _ := a.object["detail"].(string)
	if a.status != status || len(a.object) != 1 || text == "" || !strings.Contains(text, part) ||
		!strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
		f.t.Errorf("%d %s %s, want %d with %q", a.status, a.header.Get("Content-Type"), a.raw, status, part)
	}
}

// store adds a memory and returns its id.
func (f *fixture) store(user, text string, more map[string]any) string {
	f.t.Helper()
	body := map[string]any{
		"messages": []any{map[string]any{"role": "user", "content": text}}, "user_id": user, "infer": false,
	}
	for name, value := range more {
		body[name] = value
	}
	a := f.want("POST", "/mem0/v3/memories/add/", body)
	return field(f.t, a.object, "results", 0, "id").(string)
}

// found returns the texts of the memories that filters choose, in the order of the list.
func (f *fixture) found(filters any) string {
	f.t.Helper()
	return texts(f.want("POST", "/mem0/v3/memories/", map[string]any{"filters": filters}).object["results"])
}

// texts joins the texts of memories.
func texts(memories any) string {
	var all []string
	for _, m := range memories.([]any) {
		all = append(all, m.(map[string]any)["memory"].(string))
	}
	return strings.Join(all, "|")
}

// field returns a value within a value of JSON.
func field(t *testing.T, value any, path ...any) any {
	t.Helper()
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, ok := value.(map[string]any)
			if !ok {
				t.Fatalf("%v is no object, at %v of %v", value, step, path)
			}
			value = object[step]
		case int:
			list, ok := value.([]any)
			if !ok || step >= len(list) {
				t.Fatalf("%v has no element %d of %v", value, step, path)
			}
			value = list[step]
		}
	}
	return value
}

// same fails the test unless two values print alike.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
