package app

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"hippocampus/docs"
	"hippocampus/server/api"
	"hippocampus/server/mem0"
	"hippocampus/server/proxy"
	"hippocampus/server/reference"
	"hippocampus/server/site"
	"hippocampus/server/static"
)

// apiPages are the pages of the site that replace documents of the repository in links.
var apiPages = map[string]string{
	"server/api/openapi.yaml":   "api/index.html",
	"server/mem0/openapi.yaml":  "api/index.html?document=openapi/mem0.yaml",
	"server/proxy/openapi.yaml": "api/index.html?document=openapi/proxy.yaml",
}

// apiDocuments are the documents that the reference shows, by their paths from the top folder of the site. The site
// serves them too, so that the reference works on static pages and where metrics.listen moves /openapi.yaml to another
// address.
var apiDocuments = sync.OnceValue(func() map[string]static.File {
	return map[string]static.File{
		"openapi.yaml":       static.New("openapi.yaml", api.Document()),
		"openapi/mem0.yaml":  static.New("mem0.yaml", mem0.Mount().Document),
		"openapi/proxy.yaml": static.New("proxy.yaml", proxy.Mount(proxy.Options{}).Document),
	}
})

// newReference returns the reference of the API's documents.
func newReference() (*reference.Reference, error) {
	return reference.New("../",
		reference.Document{Path: "openapi.yaml", Title: "Hippocampus"},
		reference.Document{Path: "openapi/mem0.yaml", Title: "mem0's API"},
		reference.Document{Path: "openapi/proxy.yaml", Title: "OpenAI proxy"},
	)
}

// documentation serves /docs/ and, below it, the reference of the API with its documents.
func documentation() (http.Handler, error) {
	apis, err := newReference()
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/docs/", site.New(docs.Files, site.Options{Pages: apiPages}))
	mux.Handle("/docs/api/", apis)
	serveDocument := func(w http.ResponseWriter, r *http.Request) {
		file, known := apiDocuments()[strings.TrimPrefix(r.URL.Path, "/docs/")]
		if !known {
			http.NotFound(w, r)
			return
		}
		file.Serve(w, r, static.Revalidate)
	}
	mux.HandleFunc("/docs/openapi.yaml", serveDocument)
	mux.HandleFunc("/docs/openapi/", serveDocument)
	for path, folder := range map[string]string{"/docs": "docs/", "/docs/api": "api/"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", folder) // relative, for proxies that strip a prefix
			w.WriteHeader(http.StatusMovedPermanently)
		})
	}
	return mux, nil
}

// WriteDocumentation writes the documentation as static files into a folder, which it makes, and returns their number.
// repository is the address of the repository's files, or empty.
func WriteDocumentation(folder, repository string) (int, error) {
	apis, err := newReference()
	if err != nil {
		return 0, err
	}
	files, err := site.New(docs.Files, site.Options{Repository: repository, Pages: apiPages}).Files()
	if err != nil {
		return 0, err
	}
	for name, file := range apis.Files() {
		files["api/"+name] = file
	}
	maps.Copy(files, apiDocuments())
	for name, file := range files {
		content, err := file.Content()
		if err != nil {
			return 0, err
		}
		target := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil { //nolint:gosec // a web server reads the folder
			return 0, fmt.Errorf("writing the documentation: %w", err)
		}
		if err := os.WriteFile(target, content, 0o644); err != nil { //nolint:gosec // a web server reads the file
			return 0, fmt.Errorf("writing the documentation: %w", err)
		}
	}
	return len(files), nil
}
