package frame

import (
	"bufio"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
)

// abortKey is set in the context of a request whose connection must be cut.
const abortKey = "abort"

// abort cuts the connection of a response that failed midway. It is the outermost
// middleware, so that the request is logged and counted first.
func abort(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := next(c)
		if c.Get(abortKey) != nil {
			panic(http.ErrAbortHandler)
		}
		return err
	}
}

// CutConnection says that the connection is to be cut, since the response failed midway.
func (r *Request) CutConnection() { r.Set(abortKey, true) }

// Flow reads the body and writes the response of a streamed route. It lifts the
// server's deadlines, but cuts off a client that transfers no byte for limit.
type Flow struct {
	control *http.ResponseController
	body    io.Reader
	out     *bufio.Writer
	written bool // Write was called
	whole   bool // the body was read to its end
	stall   *time.Timer
	stalled atomic.Bool // the client was cut off
	limit   time.Duration
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// NewInflow begins the stream of a request's body.
func NewInflow(r *Request, limit time.Duration) *Flow {
	return newFlow(r, limit, (*http.ResponseController).SetReadDeadline)
}

// NewOutflow begins the stream of a response.
func NewOutflow(r *Request, limit time.Duration) *Flow {
	return newFlow(r, limit, (*http.ResponseController).SetWriteDeadline)
}

// newFlow begins a stream. cutOff sets the connection's deadline for reading or
// for writing; the recorder of a test has no deadlines.
func newFlow(r *Request, limit time.Duration, cutOff func(*http.ResponseController, time.Time) error) *Flow {
	f := &Flow{control: http.NewResponseController(r.Response()), body: r.Request().Body, limit: limit}
	f.out = bufio.NewWriterSize(&timedWriter{f, r.Response()}, 32<<10)
	_, _ = f.control.SetReadDeadline(time.Time{}), f.control.SetWriteDeadline(time.Time{})
	f.stall = time.AfterFunc(f.limit, func() {
		f.stalled.Store(true)
		_ = cutOff(f.control, past)
	})
	f.stall.Stop()
	return f
}

// Read reads the body.
func (f *Flow) Read(p []byte) (int, error) {
	f.stall.Reset(f.limit)
	defer f.stall.Stop()
	n, err := f.body.Read(p)
	f.whole = f.whole || err == io.EOF
	return n, err
}

// Write writes to the response, through a buffer.
func (f *Flow) Write(p []byte) (int, error) {
	f.written = true
	return f.out.Write(p)
}

// Flush sends what was written.
func (f *Flow) Flush() error {
	if err := f.out.Flush(); err != nil {
		return err
	}
	f.stall.Reset(f.limit)
	defer f.stall.Stop()
	return f.control.Flush()
}

// HasBegun reports whether Write was called.
func (f *Flow) HasBegun() bool { return f.written }

// HasStalled reports whether the client was cut off.
func (f *Flow) HasStalled() bool { return f.stalled.Load() }

// Interrupt ends the running read and every later one.
func (f *Flow) Interrupt() { _ = f.control.SetReadDeadline(past) }

// Abandon leaves the rest of the body unread. It does nothing if the whole body was read,
// since net/http would take the expired deadline for a client that has left.
func (f *Flow) Abandon() {
	if !f.whole {
		f.Interrupt()
	}
}

// drainTime bounds how long the rest of a refused stream is read.
const drainTime = 10 * time.Second

// Drain reads the rest of the body of a refused request, for the reason of discard.
func (f *Flow) Drain() {
	defer time.AfterFunc(drainTime, f.Interrupt).Stop()
	_, _ = io.CopyN(io.Discard, f, discardLimit)
	f.Abandon()
}

// Close must be called before the handler returns.
func (f *Flow) Close() { f.stall.Stop() }

// timedWriter cuts the client off if a write takes longer than the limit.
type timedWriter struct {
	*Flow
	to io.Writer
}

func (w *timedWriter) Write(p []byte) (int, error) {
	w.stall.Reset(w.limit)
	defer w.stall.Stop()
	return w.to.Write(p)
}
