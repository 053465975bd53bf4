// Package site shows the Markdown pages of the folder docs as HTML:
//
//	README.md              -> lists of sections and pages -> the navigation, in each language
//	pages, page.html       -> goldmark                    -> /docs/flows/write.html, or without .html, and so on
//	headings, words        -> search.json                 -> the search field
//
// Pages are rendered at the first request, all at once. No request goes to another host, which the
// Content-Security-Policy enforces.
package site

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"hippocampus/server/static"
)

// Policies allow what the server itself sends. A picture contains its styles.
const (
	pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	picturePolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"
)

// Options of a site.
type Options struct {
	// Repository is the address of the repository's files, such as https://git.example.com/hippocampus/blob/main.
	// Without it a link to a file outside docs is text that names the file.
	Repository string
	// Pages are addresses of this site for files outside docs, such as api/index.html for server/api/openapi.yaml.
	Pages map[string]string
}

// Site is an http.Handler of the pages. It is safe for concurrent use.
type Site struct {
	files func() (map[string]static.File, error)
}

// New returns the site of the folder docs, which is rendered when it is first asked for.
func New(docs fs.FS, o Options) *Site {
	return &Site{files: sync.OnceValues(func() (map[string]static.File, error) { return build(docs, o) })}
}

// Files returns every file of the site by its path, such as flows/write.html. It fails if a page cannot be read.
func (s *Site) Files() (map[string]static.File, error) { return s.files() }

// ServeHTTP answers a request for a path below /docs/.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	files, err := s.files()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/docs/")
	if name == "" || strings.HasSuffix(name, "/") {
		name += "index.html"
	}
	file, known := files[name]
	if !known { // runbooks is runbooks.html, for links that people write
		name += ".html"
		file, known = files[name]
	}
	if !known {
		http.NotFound(w, r)
		return
	}
	policy := pagePolicy
	if path.Ext(name) == ".svg" {
		policy = picturePolicy
	}
	w.Header().Set("Content-Security-Policy", policy)
	caching := static.Revalidate
	if r.URL.RawQuery == file.Hash() {
		caching = static.Forever
	}
	file.Serve(w, r, caching)
}

// build renders the pages and copies the other files.
func build(docs fs.FS, o Options) (map[string]static.File, error) {
	pages, others, err := read(docs)
	if err != nil {
		return nil, err
	}
	files := map[string]static.File{}
	for name, content := range others {
		files[name] = static.New(name, content)
	}
	template, err := parseTemplate(files, pages)
	if err != nil {
		return nil, err
	}
	r := rendering{options: o, pages: pages, others: others}
	errs := make([]error, 0, len(pages))
	for _, p := range pages {
		var content []byte
		content, err = template.execute(p, r.html(p))
		errs = append(errs, err)
		files[p.path] = static.New(p.path, content)
	}
	return files, errors.Join(errs...)
}

// read returns the pages by their names, such as flows/write.md, and the other files.
func read(docs fs.FS) (pages map[string]*page, others map[string][]byte, err error) {
	pages, others = map[string]*page{}, map[string][]byte{}
	err = fs.WalkDir(docs, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(docs, name)
		switch path.Ext(name) {
		case ".md":
			pages[name] = parse(name, content)
		case ".go": // which embeds the others
		default:
			others[name] = content
		}
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("reading the documentation: %w", err)
	}
	return pages, others, nil
}
