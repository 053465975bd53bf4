package api

import (
	"bufio"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
)

// streamed is the body limit of a route whose body or answer flows for as long
// as it must: neither its size nor its time is bounded, only how long it may
// stand still.
const streamed = -1

// abortKey is set in the context of a request whose connection is to be cut.
const abortKey = "abort"

// abort cuts the connection of an answer that broke off. It stands outside of
// everything that counts and logs.
func abort(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := next(c)
		if c.Get(abortKey) != nil {
			panic(http.ErrAbortHandler)
		}
		return err
	}
}

// flow reads the body and writes the answer of a streamed route. The server's
// deadlines do not hold for it; a client that neither sends nor takes a byte
// for Options.StreamTimeout is cut off.
type flow struct {
	control *http.ResponseController
	body    io.Reader
	out     *bufio.Writer
	begun   bool // something was written
	whole   bool // the body was read to its end
	stall   *time.Timer
	stalled atomic.Bool // the client was cut off
	limit   time.Duration
}

// gone is a deadline in the past.
var gone = time.Unix(1, 0)

// flow begins a stream. What bounds, in the end, is a deadline of the
// connection, for reading or for writing; a test's recorder has none.
func (s *Server) flow(r *request, bound func(*http.ResponseController, time.Time) error) *flow {
	f := &flow{control: http.NewResponseController(r.Response()), body: r.Request().Body, limit: s.StreamTimeout}
	f.out = bufio.NewWriterSize(&unstalled{f, r.Response()}, 32<<10)
	_, _ = f.control.SetReadDeadline(time.Time{}), f.control.SetWriteDeadline(time.Time{})
	f.stall = time.AfterFunc(f.limit, func() {
		f.stalled.Store(true)
		_ = bound(f.control, gone)
	})
	f.stall.Stop()
	return f
}

// Read reads the body.
func (f *flow) Read(p []byte) (int, error) {
	f.stall.Reset(f.limit)
	defer f.stall.Stop()
	n, err := f.body.Read(p)
	f.whole = f.whole || err == io.EOF
	return n, err
}

// Write writes to the answer, through a buffer.
func (f *flow) Write(p []byte) (int, error) {
	f.begun = true
	return f.out.Write(p)
}

// flush sends what is written.
func (f *flow) flush() error {
	if err := f.out.Flush(); err != nil {
		return err
	}
	f.stall.Reset(f.limit)
	defer f.stall.Stop()
	return f.control.Flush()
}

// abandon leaves the rest of the body unread. Of a body that is read there is
// none, and net/http, which watches its connection by then, would take the
// deadline for a client that has left.
func (f *flow) abandon() {
	if !f.whole {
		_ = f.control.SetReadDeadline(gone)
	}
}

// end must be called before the handler returns.
func (f *flow) end() { f.stall.Stop() }

// unstalled writes within the limit.
type unstalled struct {
	*flow
	to io.Writer
}

func (u *unstalled) Write(p []byte) (int, error) {
	u.stall.Reset(u.limit)
	defer u.stall.Stop()
	return u.to.Write(p)
}
