package target

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Connections are persistent connections to one address. The calling goroutine
// writes the request and reads the answer: the client shares the cores with the
// measured server, and net/http's client wakes two goroutines for each request.
type Connections struct {
	address string
	mu      sync.Mutex
	idle    []*connection
}

type connection struct {
	net.Conn
	answers *bufio.Reader
	used    bool // it has returned an answer before
}

// NewConnections makes Connections to HOST:PORT without connecting yet.
func NewConnections(address string) *Connections { return &Connections{address: address} }

// timeout of an answer.
const timeout = 5 * time.Minute

// Answer is the answer to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request and returns its answer.
func (c *Connections) Do(request *http.Request) (Answer, error) {
	for {
		conn, err := c.take(request.Context())
		if err != nil {
			return Answer{}, err
		}
		stop := context.AfterFunc(request.Context(), func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
		answer, keep, err := conn.exchange(request)
		switch {
		case !stop() || err != nil || !keep:
			conn.Close()
		default:
			c.give(conn)
		}
		if err == nil {
			return answer, nil
		}
		// If the server closed an idle connection, it has not received the request.
		if conn.used && request.Context().Err() == nil && request.GetBody != nil {
			if request.Body, err = request.GetBody(); err == nil {
				continue
			}
		}
		return Answer{}, fmt.Errorf("%s %s: %w", request.Method, request.URL, err)
	}
}

func (conn *connection) exchange(request *http.Request) (a Answer, keep bool, err error) {
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return a, false, err
	}
	if err := request.Write(conn); err != nil {
		return a, false, err
	}
	answer, err := http.ReadResponse(conn.answers, request)
	if err != nil {
		return a, false, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return Answer{Status: answer.StatusCode, Header: answer.Header, Body: body}, !answer.Close, err
}

// take returns the connection that was used last, or a new one.
func (c *Connections) take(ctx context.Context) (*connection, error) {
	c.mu.Lock()
	if last := len(c.idle) - 1; last >= 0 {
		conn := c.idle[last]
		c.idle = c.idle[:last]
		c.mu.Unlock()
		return conn, nil
	}
	c.mu.Unlock()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", c.address)
	if err != nil {
		return nil, err
	}
	return &connection{Conn: conn, answers: bufio.NewReader(conn)}, nil
}

func (c *Connections) give(conn *connection) {
	conn.used = true
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = append(c.idle, conn)
}

// Close closes idle connections.
func (c *Connections) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.idle {
		conn.Close()
	}
	c.idle = nil
}
