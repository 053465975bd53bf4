// Package static serves files that are part of the program:
//
//	content -> New        -> File -> Serve    with ETag, 304, and gzip for clients that accept it
//	gzip    -> Compressed -> File -> Content  without the compression
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"time"
)

// Caching directives for Serve.
const (
	Revalidate = "no-cache"                            // the address stays and the content may change
	Forever    = "public, max-age=31536000, immutable" // the address contains the hash
)

// medias are the media types of files, by their endings.
var medias = map[string]string{
	".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".json": "application/json", ".png": "image/png", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
	".yaml": "application/yaml",
}

// File is a file in memory. It is immutable.
type File struct {
	content    []byte
	compressed bool // content is compressed by gzip
	media      string
	hash       string
}

// New returns a file whose media type follows from the ending of its name, and compresses it unless it is a PNG.
func New(name string, content []byte) File {
	if path.Ext(name) == ".png" {
		return File{content: content, media: medias[".png"], hash: hashOf(content)}
	}
	var compressed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&compressed, gzip.DefaultCompression) // fails for an invalid level only
	_, _ = w.Write(content)                                           // a buffer accepts everything
	_ = w.Close()
	return Compressed(name, compressed.Bytes())
}

// Compressed returns a file whose content is compressed by gzip.
func Compressed(name string, content []byte) File {
	return File{content: content, compressed: true, media: medias[path.Ext(name)], hash: hashOf(content)}
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:8])
}

// Hash returns 16 hexadecimal digits that change with the content.
func (f File) Hash() string { return f.hash }

// Size returns how many bytes are sent to a client that accepts gzip.
func (f File) Size() int { return len(f.content) }

// Content returns the content without compression. It fails if the content of Compressed is not gzip.
func (f File) Content() ([]byte, error) {
	if !f.compressed {
		return f.content, nil
	}
	plain, err := gzip.NewReader(bytes.NewReader(f.content))
	if err != nil {
		return nil, fmt.Errorf("decompressing a file of the program: %w", err)
	}
	content, err := io.ReadAll(plain)
	if err != nil {
		return nil, fmt.Errorf("decompressing a file of the program: %w", err)
	}
	return content, nil
}

// Serve answers a request with the file; caching is Revalidate or Forever.
func (f File) Serve(w http.ResponseWriter, r *http.Request, caching string) {
	h := w.Header()
	h.Set("Cache-Control", caching)
	h.Set("Content-Type", f.media)
	h.Set("ETag", `W/"`+f.hash+`"`)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	content := f.content
	if f.compressed {
		h.Set("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
		} else {
			var err error
			if content, err = f.Content(); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}
