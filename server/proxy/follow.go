package proxy

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
)

// follow returns the body of an answer that is copied while it is streamed. When the answer ends, its turn is stored
// before the client sees the end, so that a crash loses no turn whose answer a client has received.
func (p *proxy) follow(response *http.Response, c *call) io.ReadCloser {
	f := &followed{ReadCloser: response.Body, answer: c.shape.newAnswer()}
	f.streams = strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream")
	f.gzipped = response.Header.Get("Content-Encoding") == "gzip"
	f.onWhole = func(said message) { p.write(response.Request.Context(), c, said) }
	return f
}

// followed is an answer that is copied while it is streamed. Of a stream of events it keeps the unfinished line, of
// another answer everything.
type followed struct {
	io.ReadCloser
	answer  answer
	streams bool // the answer is a stream of events
	gzipped bool
	kept    []byte
	event   []byte // the data of the event that has not ended
	given   bool   // the answer is too long to be copied, or has been read
	onWhole func(said message)

	searched int // bytes of kept without the end of a line
}

func (f *followed) Read(b []byte) (int, error) {
	n, err := f.ReadCloser.Read(b)
	if !f.given {
		f.kept = append(f.kept, b[:n]...)
		if f.streams && !f.gzipped {
			f.readLines()
		}
		f.given = len(f.kept)+len(f.event) > maxAnswer
	}
	if err == io.EOF && !f.given {
		f.given = true
		f.finish()
	}
	return n, err
}

func (f *followed) finish() {
	if f.gzipped {
		z, err := gzip.NewReader(bytes.NewReader(f.kept))
		if err != nil {
			return
		}
		if f.kept, err = io.ReadAll(io.LimitReader(z, maxAnswer)); err != nil {
			return
		}
	}
	if f.streams {
		f.kept = append(f.kept, "\n\n"...)
		f.readLines()
	} else {
		f.answer.event(f.kept)
	}
	f.kept = nil
	if said, whole := f.answer.message(); whole {
		f.onWhole(said)
	}
}

// readLines reads the lines of a stream that have ended. The data of an event may have
// several lines
// (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation).
func (f *followed) readLines() {
	for {
		end := bytes.IndexByte(f.kept[f.searched:], '\n')
		if end < 0 {
			f.searched = len(f.kept)
			return
		}
		end += f.searched
		line := bytes.TrimRight(f.kept[:end], "\r")
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			f.event = append(append(f.event, bytes.TrimPrefix(data, []byte(" "))...), '\n')
		} else if len(line) == 0 && len(f.event) > 0 {
			f.answer.event(f.event)
			f.event = f.event[:0]
		}
		f.kept, f.searched = f.kept[end+1:], 0
	}
}

// buffers lends the buffers through which answers are copied.
type buffers struct{}

// bufferBytes is small, so that a thousand open streams need little memory.
const bufferBytes = 4 << 10

var pool = sync.Pool{New: func() any { b := make([]byte, bufferBytes); return &b }}

func (buffers) Get() []byte  { return *pool.Get().(*[]byte) }
func (buffers) Put(b []byte) { pool.Put(&b) }
