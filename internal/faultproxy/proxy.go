// Package faultproxy is a TCP proxy in front of a server, with which a test disturbs connections:
//
//	client -> Proxy -> upstream;  Hang keeps connections open and silent;  Cut closes them
package faultproxy

import (
	"net"
	"sync"
)

// Proxy forwards connections, until it hangs or is cut.
type Proxy struct {
	Addr string // HOST:PORT on which it listens

	upstream string
	listener net.Listener
	serving  sync.WaitGroup
	forward  sync.RWMutex // held for writing while the proxy hangs

	mu    sync.Mutex
	hangs bool
	cut   bool
	conns map[net.Conn]bool
}

// Start starts a proxy in front of HOST:PORT. The caller must close it.
func Start(upstream string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{Addr: listener.Addr().String(), upstream: upstream, listener: listener, conns: map[net.Conn]bool{}}
	p.serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			p.serving.Go(func() { p.serve(conn) })
		}
	})
	return p, nil
}

// Hang stops forwarding. The proxy keeps every connection open, accepts more, and
// forwards nothing, not even the end of a connection.
func (p *Proxy) Hang() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.hangs {
		p.hangs = true
		p.forward.Lock()
	}
}

// Resume forwards again what has been sent since Hang.
func (p *Proxy) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hangs {
		p.hangs = false
		p.forward.Unlock()
	}
}

// Cut closes every connection, and each further one at once.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	for conn := range p.conns {
		_ = conn.Close()
	}
}

// Connect lets connections through again after Cut.
func (p *Proxy) Connect() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = false
}

// Close ends every connection and the proxy.
func (p *Proxy) Close() {
	p.Resume()
	_ = p.listener.Close()
	p.Cut()
	p.serving.Wait()
}

func (p *Proxy) serve(client net.Conn) {
	if !p.add(client) {
		return
	}
	defer p.remove(client)
	server, err := net.Dial("tcp", p.upstream)
	if err != nil || !p.add(server) {
		return
	}
	defer p.remove(server)
	var both sync.WaitGroup
	both.Go(func() { p.copy(server, client) })
	both.Go(func() { p.copy(client, server) })
	both.Wait()
}

// add reports whether the connection may be used; else it is closed.
func (p *Proxy) add(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut {
		_ = conn.Close()
		return false
	}
	p.conns[conn] = true
	return true
}

func (p *Proxy) remove(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
	_ = conn.Close()
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
