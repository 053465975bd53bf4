// Package console serves the pages on which people look at what the server remembers:
//
//	/console/        -> dist/index.html
//	/console/{file}  -> the script, the styles and the icon of the page, from the program itself
//
// The page asks only the public API of the same server, which its Content-Security-Policy enforces. Its sources are
// in src. The build tag noconsole leaves the files out of the program.
package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

// Path is where the console is served.
const Path = "/console/"

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// medias are the media types of files, by their endings.
var medias = map[string]string{
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// file is a file to serve.
type file struct {
	content    []byte
	compressed func() []byte // by gzip, made at the first call
	media      string
	hash       string
}

// handler serves files by their paths.
type handler map[string]file

// New returns the handler of Path, safe for concurrent use, or nil if the program was built without the console.
func New() (http.Handler, error) {
	built := files()
	if built == nil {
		return nil, nil
	}
	h := handler{}
	err := fs.WalkDir(built, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		media, known := medias[path.Ext(name)]
		if !known {
			return fmt.Errorf("the file %s has an unknown media type: add it to medias", name)
		}
		content, err := fs.ReadFile(built, name)
		sum := sha256.Sum256(content)
		h[Path+name] = file{
			content: content, compressed: sync.OnceValue(func() []byte { return compress(content) }),
			media: media, hash: hex.EncodeToString(sum[:8]),
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the files of the console: %w", err)
	}
	h[Path] = h[Path+"index.html"]
	return h, nil
}

func compress(content []byte) []byte {
	var compressed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&compressed, gzip.BestCompression) // fails only for an invalid level
	_, _ = w.Write(content)                                        // a buffer takes everything
	_ = w.Close()
	return compressed.Bytes()
}

// ServeHTTP answers a request for one of the files.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f, known := h[r.URL.Path]
	if !known {
		http.NotFound(w, r)
		return
	}
	header := w.Header()
	header.Set("Cache-Control", "no-cache") // browsers ask again, by the ETag
	header.Set("Content-Security-Policy", policy)
	header.Set("Content-Type", f.media)
	header.Set("ETag", `W/"`+f.hash+`"`)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Vary", "Accept-Encoding")
	header.Set("X-Content-Type-Options", "nosniff")
	content := f.content
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		content = f.compressed()
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}
