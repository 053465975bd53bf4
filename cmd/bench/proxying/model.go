package proxying

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
)

// The models that can be asked for.
const (
	streaming = "streaming" // streams its whole answer at once
	waiting   = "waiting"   // streams its first event, and the others when release is called
)

// model streams answers of events with a word each.
type model struct {
	url     string
	server  *http.Server
	release func()
}

const (
	event  = `data: {"choices":[{"index":0,"delta":{"content":"word "}}]}` + "\n\n"
	finish = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	end    = "data: [DONE]\n\n"
	events = 20 // of an answer
)

func startModel() (*model, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	released := make(chan struct{})
	m := &model{
		url: fmt.Sprintf("http://%s/v1", listener.Addr()), release: sync.OnceFunc(func() { close(released) }),
	}
	m.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has disconnected
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range events {
			_, _ = io.WriteString(w, event)
			w.(http.Flusher).Flush()
			if i > 0 || !bytes.Contains(body, []byte(`"model":"`+waiting+`"`)) {
				continue
			}
			select {
			case <-released:
			case <-r.Context().Done():
				return
			}
		}
		_, _ = io.WriteString(w, finish+end)
	})}
	go func() { _ = m.server.Serve(listener) }() // until close
	return m, nil
}

func (m *model) close() {
	m.release()
	_ = m.server.Close()
}
