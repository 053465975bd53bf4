//go:build !noconsole

package console

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// budget is how many bytes a browser loads at most before it shows a screen.
const budget = 150_000

func open(t *testing.T) handler {
	t.Helper()
	h, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return h.(handler)
}

func get(t *testing.T, h http.Handler, path string, header ...string) *http.Response {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request)
	return w.Result()
}

func read(t *testing.T, from io.Reader) string {
	t.Helper()
	text, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestConsole_StaysWithinItsBudget(t *testing.T) {
	t.Parallel()
	total := 0
	for path, f := range open(t) {
		if path != Path { // which is index.html
			total += len(f.compressed())
		}
	}
	t.Logf("the console has %d bytes compressed, of %d", total, budget)
	if total > budget {
		t.Errorf("the console has %d bytes compressed, more than %d", total, budget)
	}
}

func TestConsole_PageNamesItsFilesAndNoOtherHost(t *testing.T) {
	t.Parallel()
	h := open(t)
	response := get(t, h, Path)
	page := read(t, response.Body)
	if got := response.Header.Get("Content-Security-Policy"); got != policy {
		t.Errorf("the policy is %q", got)
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") || strings.Contains(policy, "*") {
		t.Errorf("the policy is not strict: %s", policy)
	}
	addresses := regexp.MustCompile(`(?:src|href)="\./([^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(addresses) != len(h)-2 {
		t.Errorf("the page names %d files, and there are %d in addition to itself", len(addresses), len(h)-2)
	}
	for _, address := range addresses {
		if file := get(t, h, Path+address[1]); file.StatusCode != http.StatusOK || read(t, file.Body) == "" {
			t.Errorf("%s answers %d", address[1], file.StatusCode)
		}
	}
	if strings.Contains(page, "://") || strings.Contains(page, "<style") || strings.Contains(page, "style=") {
		t.Error("the page names another host, or has styles that the policy forbids")
	}
}

func TestConsole_ServesCompressedAndCachedFiles(t *testing.T) {
	t.Parallel()
	h := open(t)
	for path, f := range h {
		plain := get(t, h, path)
		if plain.Header.Get("Content-Type") != f.media || plain.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s has the header %v", path, plain.Header)
		}
		compressed := get(t, h, path, "Accept-Encoding", "br, gzip")
		if compressed.Header.Get("Content-Encoding") != "gzip" || compressed.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s has the header %v, compressed", path, compressed.Header)
		}
		reader, err := gzip.NewReader(compressed.Body)
		if err != nil {
			t.Fatal(err)
		}
		if read(t, plain.Body) != read(t, reader) {
			t.Errorf("%s differs with and without compression", path)
		}
		etag := plain.Header.Get("ETag")
		again := get(t, h, path, "If-None-Match", etag)
		if etag == "" || again.StatusCode != http.StatusNotModified {
			t.Errorf("%s with the ETag %q answers %d", path, etag, again.StatusCode)
		}
	}
}

func TestConsole_KnowsOnlyItsFiles(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, path := range []string{"/", "/console", Path + "unknown.js", Path + "../go.mod", Path + "dist/index.js"} {
		if status := get(t, h, path).StatusCode; status != http.StatusNotFound {
			t.Errorf("%s answers %d", path, status)
		}
	}
}

func TestConsole_IsLeftOutByItsBuildTag(t *testing.T) {
	t.Parallel()
	for tags, want := range map[string]string{"": "[dist/", "noconsole": "[]"} {
		list := exec.CommandContext(t.Context(), "go", "list", "-tags", tags, "-f", "{{.EmbedFiles}}", ".")
		out, err := list.CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), want) {
			t.Errorf("with the tags %q the program contains %s, %v", tags, out, err)
		}
	}
	// This runs the tests of embed_none_test.go. Without a console, the API answers / with 404:
	// TestProblem_OfHTTPAndChecks.
	test := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-tags", "noconsole", ".")
	if out, err := test.CombinedOutput(); err != nil {
		t.Errorf("the package fails with noconsole: %v\n%s", err, out)
	}
}
