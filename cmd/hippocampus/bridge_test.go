package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hippocampus/internal/memory"
	"hippocampus/server/app"
	"hippocampus/server/config"
)

// printed collects the output of a command while it runs.
type printed struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

var listening = regexp.MustCompile(`listening on (http://\S+)`)

// serve runs a server on SQLite until stop is called or the test ends. The key may write.
func serve(t *testing.T) (base, key string, stop func()) {
	t.Helper()
	cfg := config.Default()
	cfg.Listen, cfg.Data = "127.0.0.1:0", t.TempDir()
	var out printed
	host := app.Host{Out: &out, Err: io.Discard, Now: time.Now}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- app.Run(ctx, cfg, host) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	t.Cleanup(stop)
	for deadline := time.Now().Add(time.Minute); base == ""; time.Sleep(10 * time.Millisecond) {
		if found := listening.FindStringSubmatch(out.String()); found != nil {
			base = found[1]
		}
		if time.Now().After(deadline) {
			t.Fatal("the server does not listen")
		}
	}
	key, _, err := app.CreateKey(t.Context(), cfg, host, memory.Key{AppID: app.DefaultApp, Role: memory.RoleWrite})
	if err != nil {
		t.Fatal(err)
	}
	return base, key, stop
}

// runMCP runs "mcp --url" with more arguments and returns its standard input and output.
func runMCP(t *testing.T, env []string, args ...string) (io.WriteCloser, io.ReadCloser) {
	t.Helper()
	in, toCommand := io.Pipe()
	fromCommand, out := io.Pipe()
	root := newRoot(env, app.Host{Out: out, Err: io.Discard, Now: time.Now})
	root.SetIn(in)
	root.SetArgs(append([]string{"mcp"}, args...))
	ended := make(chan error, 1)
	go func() {
		err := root.ExecuteContext(context.Background())
		out.Close()
		ended <- err
	}()
	t.Cleanup(func() {
		toCommand.Close()
		fromCommand.Close()
		if err := <-ended; err != nil {
			t.Errorf("the command ended with %v", err)
		}
	})
	return toCommand, fromCommand
}

// connect returns the session of a client whose host runs the command, or the error of its first request.
func connect(t *testing.T, env []string, args ...string) (*sdk.ClientSession, error) {
	t.Helper()
	in, out := runMCP(t, env, args...)
	client := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil)
	return client.Connect(t.Context(), &sdk.IOTransport{Reader: out, Writer: in}, nil)
}

// call returns the text of a tool's result.
func call(t *testing.T, s *sdk.ClientSession, tool string, arguments map[string]any) string {
	t.Helper()
	answer, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil || answer.IsError {
		t.Fatalf("%s: %+v, %v", tool, answer, err)
	}
	return answer.Content[0].(*sdk.TextContent).Text
}

func TestBridge_RelaysToAServer(t *testing.T) {
	t.Parallel()
	base, key, stop := serve(t)
	s, err := connect(t, nil, "--url", base+"/mcp", "--key", key, "--user", "ada")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 8 {
		t.Fatalf("%+v, %v", tools, err)
	}
	call(t, s, "add_memory", map[string]any{"content": "Lives in Lisbon."})
	text := call(t, s, "search_memories", map[string]any{"query": "Where does Ada live?"})
	if !strings.Contains(text, "Scope: user ada of app default.") || !strings.Contains(text, "Lives in Lisbon.") {
		t.Errorf("found %q", text)
	}
	_, err = s.CallTool(t.Context(), &sdk.CallToolParams{Name: "dig"})
	if err == nil || !strings.Contains(err.Error(), `unknown tool "dig"`) {
		t.Errorf("an unknown tool: %v", err)
	}
	stop()
	_, err = s.ListTools(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "no answer from "+base+": ") ||
		!strings.Contains(err.Error(), "check that the server runs there") {
		t.Errorf("without the server: %v", err)
	}
}

// A client of an earlier version of the protocol negotiates its version once; the bridge sends it with each request.
func TestBridge_SendsTheNegotiatedVersion(t *testing.T) {
	t.Parallel()
	base, key, _ := serve(t)
	target, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	versions := make(chan string, 2)
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		versions <- r.Header.Get("Mcp-Protocol-Version")
		proxy.ServeHTTP(w, r)
	}))
	defer between.Close()
	in, out := runMCP(t, []string{config.KeyVariable + "=" + key}, "--url", between.URL)
	lines := bufio.NewScanner(out)
	for i, c := range []struct{ line, version string }{
		{`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
			`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`, ""},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "2025-06-18"},
	} {
		if _, err := fmt.Fprintln(in, c.line); err != nil || !lines.Scan() {
			t.Fatal(err, lines.Err())
		}
		var answer struct {
			ID     int
			Result json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil || answer.ID != i || answer.Result == nil {
			t.Errorf("%s answers %s: %v", c.line, lines.Bytes(), err)
		}
		if version := <-versions; version != c.version {
			t.Errorf("%s was sent with the version %q", c.line, version)
		}
	}
}

func TestBridge_RefusalsNameTheRemedy(t *testing.T) {
	t.Parallel()
	base, key, _ := serve(t)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/json/mcp":
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"detail":"Not Found"}`)
		case "/redirect/mcp":
			http.Redirect(w, r, base+"/mcp", http.StatusTemporaryRedirect)
		default:
			fmt.Fprint(w, "<html>Welcome</html>")
		}
	}))
	t.Cleanup(elsewhere.Close)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no key":             {[]string{"--url", base}, "it needs an API key: set HIPPOCAMPUS_KEY"},
		"unknown key":        {[]string{"--url", base, "--key", "x"}, "; the key of --key was sent"},
		"user that is no id": {[]string{"--url", base, "--key", key, "--user", "a\nb"}, "query.user_id"},
		"another server":     {[]string{"--url", elsewhere.URL}, "is not a Hippocampus server: check --url"},
		"another API":        {[]string{"--url", elsewhere.URL + "/json"}, "is not a Hippocampus server: check --url"},
		"redirect":           {[]string{"--url", elsewhere.URL + "/redirect", "--key", key}, "307 Temporary Redirect"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := connect(t, nil, c.args...)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestMCP_ChecksItsFlags(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"give its --url":    {"--key", "x"},
		"is not an address": {"--url", "localhost:8080"},
		"unknown command":   {"now"},
	} {
		code, out, errOut := run(t, nil, append([]string{"mcp"}, args...)...)
		if code == 0 || out != "" || !strings.Contains(errOut, want) {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", args, code, out, errOut)
		}
	}
}
