package reference

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func get(t *testing.T, r *Reference, path string, header ...string) *http.Response {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, request)
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

func newReference(t *testing.T) *Reference {
	t.Helper()
	r, err := New("../../", Document{"openapi.yaml", "Hippocampus"}, Document{"openapi/mem0.yaml", "mem0's API"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReference_PageNamesDocumentsAndExistingAssets(t *testing.T) {
	t.Parallel()
	r := newReference(t)
	response := get(t, r, "/docs/api/")
	page := read(t, response.Body)
	for _, text := range []string{`data-document="openapi.yaml"`, `data-document="openapi/mem0.yaml"`} {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %s", text)
		}
	}
	addresses := regexp.MustCompile(`(?:src|href)="([^"]*\?[0-9a-f]{16})"`).FindAllStringSubmatch(page, -1)
	if len(addresses) != len(r.files)-1 {
		t.Errorf("the page names %d of %d files", len(addresses), len(r.files))
	}
	for _, address := range addresses {
		asset := get(t, r, "/docs/api/"+address[1])
		if asset.StatusCode != http.StatusOK || read(t, asset.Body) == "" ||
			!strings.Contains(asset.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s answers %d with %v", address[1], asset.StatusCode, asset.Header)
		}
	}
	for _, path := range []string{
		"/docs/api/unknown.js", "/docs/api/page.html", "/docs/", "/docs/api", "/docs/api/api/page.js",
	} {
		if status := get(t, r, path).StatusCode; status != http.StatusNotFound {
			t.Errorf("%s answers %d", path, status)
		}
	}
}

// Neither the page nor its script has an address on another host, and the browser would refuse to load one.
func TestReference_LoadsNothingFromOtherHosts(t *testing.T) {
	t.Parallel()
	r := newReference(t)
	response := get(t, r, "/docs/api/")
	if got := response.Header.Get("Content-Security-Policy"); got != policy {
		t.Errorf("the policy is %q", got)
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") || strings.Contains(policy, "*") {
		t.Errorf("the policy is not strict: %s", policy)
	}
	texts := map[string]string{"the page": read(t, response.Body)}
	for _, name := range []string{"page.js", "page.css"} {
		texts[name] = read(t, get(t, r, "/docs/api/"+name).Body)
	}
	for name, text := range texts {
		if strings.Contains(text, "://") || strings.Contains(text, "<style") || strings.Contains(text, "style=") {
			t.Errorf("%s names another host, or has styles that the policy forbids", name)
		}
	}
}

func TestReference_ServesCompressedAndCachedFiles(t *testing.T) {
	t.Parallel()
	r := newReference(t)
	for _, path := range []string{"/docs/api/swagger-ui-bundle.js", "/docs/api/swagger-ui.css"} {
		compressed := get(t, r, path, "Accept-Encoding", "br, gzip")
		if compressed.Header.Get("Content-Encoding") != "gzip" || compressed.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s has the header %v", path, compressed.Header)
		}
		reader, err := gzip.NewReader(compressed.Body)
		if err != nil {
			t.Fatal(err)
		}
		plain := get(t, r, path)
		if plain.Header.Get("Content-Encoding") != "" || read(t, plain.Body) != read(t, reader) {
			t.Errorf("%s differs with and without compression", path)
		}
	}
	for _, path := range []string{"/docs/api/", "/docs/api/page.js", "/docs/api/swagger-ui.css"} {
		etag := get(t, r, path).Header.Get("ETag")
		again := get(t, r, path, "If-None-Match", etag, "Accept-Encoding", "gzip")
		if etag == "" || again.StatusCode != http.StatusNotModified {
			t.Errorf("%s with the ETag %q answers %d", path, etag, again.StatusCode)
		}
	}
}
