package static

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestFile_IsServedAsTheClientAcceptsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file             File
		accept, encoding string
	}{
		"a text to a client with gzip":    {New("a.css", []byte("a {}")), "br, gzip", "gzip"},
		"a text to a client without gzip": {New("a.css", []byte("a {}")), "", ""},
		"a picture, which is compressed":  {New("a.png", []byte("a {}")), "gzip", ""},
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/a", http.NoBody)
		request.Header.Set("Accept-Encoding", c.accept)
		w := httptest.NewRecorder()
		c.file.Serve(w, request, Revalidate)
		if got := w.Header().Get("Content-Encoding"); w.Code != http.StatusOK || got != c.encoding {
			t.Errorf("%s: %d with the encoding %q", name, w.Code, got)
		}
		if c.encoding == "" && w.Body.String() != "a {}" {
			t.Errorf("%s: %q", name, w.Body)
		}
		request.Header.Set("If-None-Match", w.Header().Get("ETag"))
		again := httptest.NewRecorder()
		c.file.Serve(again, request, Revalidate)
		if again.Code != http.StatusNotModified {
			t.Errorf("%s: %d to its ETag", name, again.Code)
		}
	}
	if _, err := Compressed("a.css", []byte("a {}")).Content(); err == nil {
		t.Error("content that is not gzip is accepted as compressed")
	}
}
