// Package reference shows documents of OpenAPI as HTML:
//
//	/docs/api/         -> page.html, with a link to each document
//	/docs/api/{asset}  -> Swagger UI, the script and the styles of the page, from the program itself
//
// The page asks no other host, which its Content-Security-Policy enforces.
package reference

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strings"

	"hippocampus/server/static"
)

// policy allows what the server itself sends, and images within style sheets.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// page is the name of the page among the files.
const page = "index.html"

// The script update makes the files of Swagger UI.
//
//go:embed assets
var assets embed.FS

// Document is a document to show.
type Document struct {
	Path  string // from the base, such as openapi/mem0.yaml
	Title string
}

// Reference is an http.Handler of the page and its assets. It is safe for concurrent use.
type Reference struct {
	files map[string]static.File // the page and the assets, by name
}

// New returns the reference of the documents, whose paths begin at base from the folder of the page, such as ../../.
// The page shows the first one by default.
func New(base string, documents ...Document) (*Reference, error) {
	entries, err := assets.ReadDir("assets")
	if err != nil {
		return nil, fmt.Errorf("reading the assets of the reference: %w", err)
	}
	r := &Reference{files: map[string]static.File{}}
	for _, entry := range entries {
		content, err := assets.ReadFile("assets/" + entry.Name())
		if err != nil {
			return nil, fmt.Errorf("reading the assets of the reference: %w", err)
		}
		name, compressed := strings.CutSuffix(entry.Name(), ".gz")
		switch {
		case compressed:
			r.files[name] = static.Compressed(name, content)
		case path.Ext(name) != ".html":
			r.files[name] = static.New(name, content)
		}
	}
	content, err := r.render(base, documents)
	if err != nil {
		return nil, fmt.Errorf("making the page of the reference: %w", err)
	}
	r.files[page] = static.New(page, content)
	return r, nil
}

// render makes the page. The address of an asset contains its hash, so that browsers keep it for good.
func (r *Reference) render(base string, documents []Document) ([]byte, error) {
	page, err := template.New("page.html").Funcs(template.FuncMap{
		"asset": func(name string) (string, error) {
			asset, known := r.files[name]
			if !known {
				return "", fmt.Errorf("there is no asset %s", name)
			}
			return name + "?" + asset.Hash(), nil
		},
	}).ParseFS(assets, "assets/page.html")
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = page.Execute(&text, map[string]any{"Base": base, "Documents": documents})
	return text.Bytes(), err
}

// Files returns the page, as index.html, and its assets by their names.
func (r *Reference) Files() map[string]static.File { return r.files }

// ServeHTTP answers a request for the page or for one of its assets.
func (r *Reference) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	name, found := strings.CutPrefix(request.URL.Path, "/docs/api/")
	if name == "" {
		name = page
	}
	file, known := r.files[name]
	switch {
	case !found || !known:
		http.NotFound(w, request)
	case name == page:
		w.Header().Set("Content-Security-Policy", policy)
		file.Serve(w, request, static.Revalidate)
	default:
		file.Serve(w, request, static.Forever)
	}
}
