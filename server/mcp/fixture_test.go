package mcp_test

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

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
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

// newFixture starts a server whose settings the test may change.
func newFixture(t *testing.T, change func(*config.Config)) *fixture {
	t.Helper()
	cfg := config.Default()
	cfg.Listen, cfg.Data = "127.0.0.1:0", t.TempDir()
	if change != nil {
		change(&cfg)
	}
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
		f.must(err)
		return secret
	}
	f.write, f.read = key("mine", memory.RoleWrite), key("mine", memory.RoleRead)
	f.stranger = key("theirs", memory.RoleWrite)
	return f
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// headers adds headers to every request.
type headers struct {
	http.RoundTripper
	add map[string]string
}

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h.add {
		r.Header.Set(name, value)
	}
	return h.RoundTripper.RoundTrip(r)
}

// connect returns a client of a key. query is the query of the URL; extra are further headers, NAME and VALUE in turn.
func (f *fixture) connect(key, query string, extra ...string) *client {
	f.t.Helper()
	add := map[string]string{"Authorization": "Bearer " + key}
	for i := 0; i < len(extra); i += 2 {
		add[extra[i]] = extra[i+1]
	}
	transport := &sdk.StreamableClientTransport{
		Endpoint: f.url + "/mcp" + query, HTTPClient: &http.Client{Transport: headers{f.client.Transport, add}},
		MaxRetries: -1, DisableStandaloneSSE: true,
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(f.t.Context(), transport, nil)
	f.must(err)
	f.t.Cleanup(func() { _ = session.Close() })
	return &client{f.t, session}
}

// client is a connected client.
type client struct {
	t *testing.T
	*sdk.ClientSession
}

// args are the arguments of a call.
type args = map[string]any

// result has the fields of structured results that the tests read.
type result struct {
	Scope struct {
		AppID  string `json:"app_id"`
		UserID string `json:"user_id"`
	} `json:"scope"`
	Memory   memoryBody                          `json:"memory"`
	Memories []memoryBody                        `json:"memories"`
	Verdict  string                              `json:"verdict"`
	Next     string                              `json:"next_cursor"`
	Text     string                              `json:"text"`
	Degraded []string                            `json:"degraded"`
	LeftOut  []struct{ Part, ID, Reason string } `json:"left_out"`
	Cleaned  []struct {
		Path  string `json:"path"`
		Count int    `json:"count"`
	} `json:"cleaned"`
	Events []struct {
		Kind string `json:"kind"`
	} `json:"events"`
}

type memoryBody struct {
	ID      string   `json:"id"`
	UserID  string   `json:"user_id"`
	Content string   `json:"content"`
	Status  string   `json:"status"`
	Tags    []string `json:"tags"`
	Pool    *struct {
		UserID string `json:"user_id"`
	} `json:"pool"`
}

// call returns the results of a call that succeeds.
func (c *client) call(tool string, arguments args) (text string, structured result) {
	c.t.Helper()
	text, raw, failed := c.try(tool, arguments)
	if failed {
		c.t.Fatalf("%s %v fails: %s", tool, arguments, text)
	}
	if err := json.Unmarshal(raw, &structured); err != nil {
		c.t.Fatalf("%s: %s: %v", tool, raw, err)
	}
	return text, structured
}

// refused returns the text of a call that fails.
func (c *client) refused(tool string, arguments args) string {
	c.t.Helper()
	text, _, failed := c.try(tool, arguments)
	if !failed {
		c.t.Fatalf("%s %v succeeds: %s", tool, arguments, text)
	}
	return text
}

func (c *client) try(tool string, arguments args) (text string, structured []byte, failed bool) {
	c.t.Helper()
	answer, err := c.CallTool(c.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		c.t.Fatalf("%s %v: %v", tool, arguments, err)
	}
	for _, content := range answer.Content {
		text += content.(*sdk.TextContent).Text
	}
	structured, err = json.Marshal(answer.StructuredContent)
	if err != nil {
		c.t.Fatal(err)
	}
	return text, structured, answer.IsError
}

// tools returns the names of the tools, in the order of the list, and the arguments of each.
func (c *client) tools() (names []string, arguments map[string][]string) {
	c.t.Helper()
	answer, err := c.ListTools(c.t.Context(), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	arguments = map[string][]string{}
	for _, tool := range answer.Tools {
		names = append(names, tool.Name)
		for name := range tool.InputSchema.(map[string]any)["properties"].(map[string]any) {
			arguments[tool.Name] = append(arguments[tool.Name], name)
		}
	}
	return names, arguments
}

// contains fails the test if a text lacks a part.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q lacks %q", text, part)
		}
	}
}

// protocolError returns the error of a call that the protocol refuses.
func (c *client) protocolError(tool string, arguments args) error {
	c.t.Helper()
	answer, err := c.CallTool(c.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err == nil {
		c.t.Fatalf("%s %v is answered: %+v", tool, arguments, answer)
	}
	return err
}
