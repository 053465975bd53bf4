package speed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"hippocampus/cmd/bench/target"
)

// overHTTP is the floor as the least server there can be: a handler of net/http
// that does what the floor does and answers nothing. No server of these stores
// is nearer to the floor, on cores that it shares with its clients.
type overHTTP struct {
	*httptest.Server
	connections *target.Connections
}

// call is what a request asks of the floor.
type call struct {
	User string `json:"user_id"`
	Text string `json:"text"`
}

func (b *bench) overHTTP() overHTTP {
	handle := func(f func(ctx context.Context, user, text string) error) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			var c call
			err := json.NewDecoder(r.Body).Decode(&c)
			if err == nil {
				err = f(r.Context(), c.User, c.Text)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		}
	}
	mux := http.NewServeMux()
	if b.floor != nil {
		mux.Handle("/recall", handle(b.floor.recall))
		mux.Handle("/turn", handle(b.floor.turn))
	}
	server := httptest.NewServer(mux)
	return overHTTP{server, target.NewConnections(server.Listener.Addr().String())}
}

func (o overHTTP) close() {
	o.connections.Close()
	o.Close()
}

func (o overHTTP) recall(ctx context.Context, user, query string) error {
	return o.post(ctx, "/recall", call{user, query})
}

func (o overHTTP) turn(ctx context.Context, user, messages string) error {
	return o.post(ctx, "/turn", call{user, messages})
}

func (o overHTTP) post(ctx context.Context, path string, c call) error {
	request, err := http.NewRequestWithContext(ctx, "POST", o.URL+path, bytes.NewReader(body(c)))
	if err != nil {
		return err
	}
	status, text, err := o.connections.Do(request)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%d %s: %s", status, http.StatusText(status), text)
	}
	return err
}
