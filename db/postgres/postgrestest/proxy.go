package postgrestest

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// Proxy is a TCP proxy in front of Postgres that can hang: it then keeps every
// connection open, accepts more, and forwards nothing, not even the end of one.
type Proxy struct {
	URL string // of the database through the proxy

	upstream string
	forward  sync.RWMutex // held for writing while the proxy hangs
	hangs    bool         // as the test's goroutine sees it
	mu       sync.Mutex
	conns    []net.Conn
}

// NewProxy starts a proxy in front of the server of a database URL.
func NewProxy(t testing.TB, databaseURL string) *Proxy {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{upstream: u.Host}
	u.Host = listener.Addr().String()
	p.URL = u.String()
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { p.serve(conn) })
		}
	})
	t.Cleanup(func() {
		if p.hangs {
			p.Resume()
		}
		_ = listener.Close()
		p.closeAll()
		serving.Wait()
	})
	return p
}

// Hang stops forwarding.
func (p *Proxy) Hang() {
	p.forward.Lock()
	p.hangs = true
}

// Resume forwards again what has been sent since Hang.
func (p *Proxy) Resume() {
	p.hangs = false
	p.forward.Unlock()
}

func (p *Proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.upstream)
	if err != nil {
		_ = client.Close()
		return
	}
	p.mu.Lock()
	p.conns = append(p.conns, client, server)
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.copy(server, client) })
	both.Go(func() { p.copy(client, server) })
	both.Wait()
}

func (p *Proxy) copy(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.forward.RLock()
		if n > 0 {
			_, _ = to.Write(buffer[:n]) // the next Read fails if this did
		}
		if err != nil {
			_, _ = to.Close(), from.Close()
		}
		p.forward.RUnlock()
		if err != nil {
			return
		}
	}
}

// closeAll ends every connection.
func (p *Proxy) closeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.conns {
		_ = conn.Close()
	}
}
