package app

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"hippocampus/server/config"
)

// Every operation of openapi.yaml is served. The reverse holds where routes are added: see
// TestContract_DescribesEveryRoute in server/api.
func TestAPI_ServesWhatIsDescribed(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Listen, cfg.Data, cfg.AdminKey = "127.0.0.1:0", t.TempDir(), testKey
	cfg.API.AuthFailures = 0
	s := start(t, cfg)
	t.Cleanup(s.stop)
	doc, err := openapi3.NewLoader().LoadFromData([]byte(s.get("/openapi.yaml")))
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			url := s.url + strings.NewReplacer("{name}", "mem0.yaml", "{", "", "}", "").Replace(path)
			r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := s.client.Do(r) // without a key: a route is known by its refusal
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(response.Body)
			response.Body.Close()
			want := http.StatusUnauthorized
			if public := doc.Paths.Value(path).GetOperation(method).Security; public != nil && len(*public) == 0 {
				want = http.StatusOK
			}
			if response.StatusCode != want {
				t.Errorf("%s %s without a key: %d, want %d: %.200s", method, path, response.StatusCode, want, body)
			}
		}
	}
}
