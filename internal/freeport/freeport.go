// Package freeport gives tests an address for a server that is stopped and started again on the same port:
//
//	Address -> HOST:PORT, below the ports that the kernel gives to outgoing connections
//
// A port from ":0" suits only a server that listens once: while that server is stopped, the kernel may give the port
// to a connection of another test.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// Ports lie from first to last. Linux gives outgoing connections 32768 to 60999, other systems 49152 to 65535.
const (
	first = 10_000
	last  = 32_000
)

var (
	mu    sync.Mutex
	given = map[int]bool{}
)

// Address returns a HOST:PORT of the loopback interface on which nothing listens. A process gets each address only
// once.
func Address() (string, error) {
	mu.Lock()
	defer mu.Unlock()
	var failed error
	for range 100 {
		port := first + rand.IntN(last-first+1)
		if given[port] {
			continue
		}
		address := fmt.Sprintf("127.0.0.1:%d", port)
		listener, err := net.Listen("tcp", address)
		if err != nil {
			failed = err
			continue
		}
		given[port] = true
		return address, listener.Close()
	}
	return "", fmt.Errorf("find a port on which nothing listens: %w", failed)
}
