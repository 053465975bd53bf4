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

// Connections are kept ones to one address. Whoever asks writes the request
// and reads the answer itself: a client shares the cores with what it measures,
// and net/http's wakes two goroutines for each request.
type Connections struct {
	address string
	mu      sync.Mutex
	idle    []*connection
}

type connection struct {
	net.Conn
	answers *bufio.Reader
	used    bool // it has brought an answer before
}

// NewConnections are to HOST:PORT. None is made yet.
func NewConnections(address string) *Connections { return &Connections{address: address} }

// patience is how long an answer may take.
const patience = 5 * time.Minute

// Do sends a request and returns the answer's status and body.
func (c *Connections) Do(request *http.Request) (status int, body []byte, err error) {
	for {
		conn, err := c.take(request.Context())
		if err != nil {
			return 0, nil, err
		}
		stop := context.AfterFunc(request.Context(), func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
		status, body, keep, err := conn.exchange(request)
		switch {
		case !stop() || err != nil || !keep:
			conn.Close()
		default:
			c.give(conn)
		}
		if err == nil {
			return status, body, nil
		}
		// A server that has closed a connection while it was idle has not seen the request.
		if conn.used && request.Context().Err() == nil && request.GetBody != nil {
			if request.Body, err = request.GetBody(); err == nil {
				continue
			}
		}
		return 0, nil, fmt.Errorf("%s %s: %w", request.Method, request.URL, err)
	}
}

func (conn *connection) exchange(request *http.Request) (status int, body []byte, keep bool, err error) {
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return 0, nil, false, err
	}
	if err := request.Write(conn); err != nil {
		return 0, nil, false, err
	}
	answer, err := http.ReadResponse(conn.answers, request)
	if err != nil {
		return 0, nil, false, err
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(answer.Body)
	return answer.StatusCode, body, !answer.Close, err
}

// take is the connection that was used last, or a new one.
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

// Close closes the connections that nobody uses.
func (c *Connections) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.idle {
		conn.Close()
	}
	c.idle = nil
}
