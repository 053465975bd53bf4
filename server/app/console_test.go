package app

import (
	"net/http"
	"strings"
	"testing"

	"hippocampus/server/config"
)

// The console needs no key itself. Browsers are led to it from /, and other clients get the problem of an unknown path.
func TestConsole_IsServedAndBrowsersAreLedToIt(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Listen, cfg.Data, cfg.AdminKey = "127.0.0.1:0", t.TempDir(), testKey
	s := start(t, cfg)
	t.Cleanup(s.stop)
	get := func(path, accept string) *http.Response {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept", accept)
		response, err := s.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = response.Body.Close() })
		return response
	}
	for _, path := range []string{"/", "/console", "/console/"} {
		response := get(path, "text/html,application/xhtml+xml,*/*;q=0.8")
		if response.StatusCode != http.StatusOK || response.Request.URL.Path != "/console/" ||
			!strings.HasPrefix(response.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s leads to %s, %d", path, response.Request.URL, response.StatusCode)
		}
	}
	for path, accept := range map[string]string{"/": "*/*", "/console/unknown": "text/html"} {
		if response := get(path, accept); response.StatusCode != http.StatusNotFound {
			t.Errorf("%s answers %d to a request that accepts %s", path, response.StatusCode, accept)
		}
	}
	if media := get("/", "*/*").Header.Get("Content-Type"); !strings.HasPrefix(media, "application/problem+json") {
		t.Errorf("/ answers other clients than browsers with %s", media)
	}
}
