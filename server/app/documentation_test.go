package app

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hippocampus/server/config"
)

// The pages hold no data, so that people read them without a key.
func TestDocumentation_NeedsNoKey(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Listen, cfg.Data, cfg.AdminKey = "127.0.0.1:0", t.TempDir(), testKey
	s := start(t, cfg)
	t.Cleanup(s.stop)
	get := func(path string) (*http.Response, string) {
		t.Helper()
		response, err := s.client.Get(s.url + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s answers %d, %v", path, response.StatusCode, err)
		}
		if policy := response.Header.Get("Content-Security-Policy"); strings.HasSuffix(path, "/") &&
			!strings.Contains(policy, "default-src 'none'") {
			t.Errorf("%s has the policy %q", path, policy)
		}
		return response, string(body)
	}
	for path, leads := range map[string]string{"/docs": "/docs/", "/docs/api": "/docs/api/"} {
		if response, _ := get(path); response.Request.URL.Path != leads {
			t.Errorf("%s leads to %s", path, response.Request.URL.Path)
		}
	}
	if _, page := get("/docs/"); !strings.Contains(page, `href="first-hour.html"`) {
		t.Error("/docs/ does not link to the first hour")
	}
	// The reference shows every document that the server has.
	_, page := get("/docs/api/")
	shown := regexp.MustCompile(`data-document="([^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(shown) != 3 || !strings.Contains(page, `data-base="../"`) {
		t.Errorf("the page shows %d documents: %s", len(shown), page)
	}
	for _, document := range shown {
		if _, text := get("/docs/" + document[1]); !strings.HasPrefix(text, "openapi: ") {
			t.Errorf("%s is %.40q", document[1], text)
		}
	}
	for _, asset := range regexp.MustCompile(`"([^"/]+\?[0-9a-f]{16})"`).FindAllStringSubmatch(page, -1) {
		if _, text := get("/docs/api/" + asset[1]); text == "" {
			t.Errorf("%s is empty", asset[1])
		}
	}
}

// The static pages are the same as the server's, with the reference and its documents.
func TestWriteDocumentation_WritesWhatTheServerShows(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "site")
	n, err := WriteDocumentation(folder, "https://git.example.com/blob/main")
	if err != nil || n < 80 {
		t.Fatalf("%d files, %v", n, err)
	}
	for name, want := range map[string]string{
		"index.html":             "first-hour.html",
		"connect/clients.html":   "https://git.example.com/blob/main/sdk/go/README.md",
		"zh/concepts.html":       "一个轮次",
		"api/index.html":         `data-base="../"`,
		"api/swagger-ui.css":     ".swagger-ui",
		"openapi.yaml":           "openapi: 3",
		"openapi/proxy.yaml":     "openapi: 3",
		"pictures/turn.svg":      "<svg",
		"decisions/index.html":   "0033-",
		"flows/maintenance.html": "retention",
	} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s (%v)", name, want, err)
		}
	}
}
