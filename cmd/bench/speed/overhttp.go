package speed

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"

	"hippocampus/cmd/bench/target"
)

// overHTTP is the floor as a minimal server: a process whose net/http handler does
// what the floor does and sends an empty answer. No server of these stores can be
// nearer to the floor on cores that it shares with its clients.
//
//	speed -> bench floor, a child -> "HOST:PORT" on its output -> requests -> end of its input -> exit
type overHTTP struct {
	process     *exec.Cmd
	input       io.Closer // the process serves until its end
	url         string
	connections *target.Connections
}

// call is a request to the floor.
type call struct {
	User string `json:"user_id"`
	Text string `json:"text"`
}

// ServeFloor serves the floor of stores until in ends. It writes its address to the
// first line of out.
func ServeFloor(ctx context.Context, stores *target.Stores, in io.Reader, out io.Writer) error {
	f, err := openFloor(ctx, stores)
	if err != nil {
		return err
	}
	defer f.close()
	handle := func(do func(ctx context.Context, user, text string) error) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			var c call
			err := json.NewDecoder(r.Body).Decode(&c)
			if err == nil {
				err = do(r.Context(), c.User, c.Text)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/recall", handle(f.recall))
	mux.Handle("/turn", handle(f.turn))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, listener.Addr())
	server := &http.Server{Handler: mux}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// startFloor runs "bench floor" of this program.
func startFloor(ctx context.Context, stores *target.Stores) (*overHTTP, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	process := exec.CommandContext(ctx, program, "floor", stores.Database, stores.Milvus, stores.Collection)
	process.Stderr = os.Stderr
	input, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}
	address, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the floor's process tells no address: %w", err), input.Close(), process.Wait())
	}
	address = strings.TrimSpace(address)
	return &overHTTP{
		process: process, input: input, url: "http://" + address, connections: target.NewConnections(address),
	}, nil
}

func (o *overHTTP) close() error {
	o.connections.Close()
	return errors.Join(o.input.Close(), o.process.Wait())
}

func (o *overHTTP) recall(ctx context.Context, user, query string) error {
	return o.post(ctx, "/recall", call{user, query})
}

func (o *overHTTP) turn(ctx context.Context, user, messages string) error {
	return o.post(ctx, "/turn", call{user, messages})
}

func (o *overHTTP) post(ctx context.Context, path string, c call) error {
	request, err := http.NewRequestWithContext(ctx, "POST", o.url+path, bytes.NewReader(target.Body(c)))
	if err != nil {
		return err
	}
	answer, err := o.connections.Do(request)
	if err == nil && answer.Status != http.StatusOK {
		err = &target.Refusal{Answer: answer, Request: "POST " + path}
	}
	return err
}
