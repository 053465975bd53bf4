package site

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"

	"hippocampus/docs"
	"hippocampus/server/static"
)

// shared is the site of the program without the API reference, which another package serves.
var shared = New(docs.Files, Options{Pages: map[string]string{"server/api/openapi.yaml": "api/index.html"}})

func files(t *testing.T) map[string]static.File {
	t.Helper()
	all, err := shared.Files()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func content(t *testing.T, file static.File) string {
	t.Helper()
	text, err := file.Content()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func get(t *testing.T, path string, header ...string) *http.Response {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	shared.ServeHTTP(w, request)
	return w.Result()
}

func TestSite_ServesCompressedAndCachedPages(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/docs/", "/docs/index.html", "/docs/decisions/", "/docs/flows/write.html",
		"/docs/flows/write", "/docs/runbooks", "/docs/zh/", "/docs/pictures/turn.svg", "/docs/search.json"} {
		response := get(t, path, "Accept-Encoding", "gzip")
		h := response.Header
		if response.StatusCode != http.StatusOK || h.Get("Content-Encoding") != "gzip" || h.Get("ETag") == "" {
			t.Errorf("%s answers %d with %v", path, response.StatusCode, h)
			continue
		}
		reader, err := gzip.NewReader(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		compressed, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(get(t, path).Body)
		if err != nil || string(plain) != string(compressed) {
			t.Errorf("%s differs with and without compression (%v)", path, err)
		}
		if again := get(t, path, "If-None-Match", h.Get("ETag")); again.StatusCode != http.StatusNotModified {
			t.Errorf("%s answers %d to its ETag", path, again.StatusCode)
		}
	}
	for _, path := range []string{"/docs/README.md", "/docs/flows", "/docs/flows/", "/docs/../go.mod",
		"/docs/nothing.html"} {
		if status := get(t, path).StatusCode; status != http.StatusNotFound {
			t.Errorf("%s answers %d", path, status)
		}
	}
	style := "/docs/site.css?" + files(t)["site.css"].Hash()
	if got := get(t, style).Header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
		t.Errorf("%s may be kept for %q", style, got)
	}
}

// No page has styles, scripts or addresses that the policy forbids.
func TestSite_PagesObeyTheirPolicy(t *testing.T) {
	t.Parallel()
	policy := get(t, "/docs/").Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
	for name, file := range files(t) {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		for _, forbidden := range []string{`style="`, "<style", "<script>", `src="http`, " onclick",
			"<!-- raw HTML omitted"} {
			if strings.Contains(content(t, file), forbidden) {
				t.Errorf("%s contains %s", name, forbidden)
			}
		}
	}
}

// The index of the search has no ids: site.js makes them from the texts of the headings, as this test does.
func TestSite_HeadingsGiveTheirIDs(t *testing.T) {
	t.Parallel()
	pages, _, err := read(docs.Files)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		made := &ids{used: map[string]int{}}
		for _, h := range p.headings {
			if h.Level == 1 {
				continue
			}
			if id := string(made.Generate([]byte(h.Text), ast.KindHeading)); id != h.ID {
				t.Errorf("%s: the heading %q gives the id %q, not %q", p.name, h.Text, id, h.ID)
			}
		}
	}
}

func TestSite_SearchIsSmall(t *testing.T) {
	t.Parallel()
	all := files(t)
	size := all["search.json"].Size() + all["site.js"].Size()
	t.Logf("the script and the index of the search have %d bytes compressed", size)
	if size > 32_000 {
		t.Errorf("the script and the index of the search have %d bytes compressed, more than 32,000", size)
	}
	index := content(t, all["search.json"])
	for _, text := range []string{`"p":"flows/recall.html"`, `"rerank"`, `"记忆"`} {
		if !strings.Contains(index, text) {
			t.Errorf("the index lacks %s", text)
		}
	}
}

func TestSite_LinksToFilesOfTheRepository(t *testing.T) {
	t.Parallel()
	pages, others, err := read(docs.Files)
	if err != nil {
		t.Fatal(err)
	}
	from := pages["connect/clients.md"]
	r := rendering{pages: pages, others: others}
	if to, file := r.address(from, "../../sdk/go/README.md"); file != "sdk/go/README.md" {
		t.Errorf("without a repository: %s, %s", to, file)
	}
	r.options.Repository = "https://git.example.com/blob/"
	to, file := r.address(from, "../../sdk/go/README.md")
	if to != "https://git.example.com/blob/sdk/go/README.md" || file != "" {
		t.Errorf("with a repository: %s, %s", to, file)
	}
	if page := content(t, files(t)["connect/clients.html"]); !strings.Contains(page, "(<code>sdk/go/README.md</code>)") {
		t.Error("without a repository, a page does not name the file that it links to")
	}
}

// The time and the memory of the first request, for which all pages are rendered.
func BenchmarkSite_Render(b *testing.B) {
	for b.Loop() {
		if _, err := New(docs.Files, Options{}).Files(); err != nil {
			b.Fatal(err)
		}
	}
}
