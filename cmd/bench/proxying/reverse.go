package proxying

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"

	"hippocampus/cmd/bench/measure"
)

// reverse is httputil.ReverseProxy in a process of its own, as the server is:
//
//	Run -> bench reverse, a child -> its URL on its output -> requests -> end of its input -> exit
type reverse struct {
	process *exec.Cmd
	input   io.Closer
	url     string
}

// ServeReverse proxies to an upstream until in ends. It writes its URL to the first line of out.
func ServeReverse(upstream string, in io.Reader, out io.Writer) error {
	to, err := url.Parse(upstream)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "http://%s\n", listener.Addr())
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1, Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Without full duplex, net/http cuts some answers that begin before the transport has seen the end of the request's
		// body.
		_ = http.NewResponseController(w).EnableFullDuplex()
		proxy.ServeHTTP(w, r)
	})}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// startReverse runs "bench reverse" of this program.
func startReverse(ctx context.Context, upstream string) (*reverse, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	process := exec.CommandContext(ctx, program, "reverse", upstream)
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
	r := &reverse{process: process, input: input}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read the address of the reverse proxy: %w", err), r.close())
	}
	r.url = strings.TrimSpace(line)
	return r, nil
}

func (r *reverse) resident() (int64, error) {
	return measure.Process(r.process.Process.Pid).Proportional()
}

func (r *reverse) close() error { return errors.Join(r.input.Close(), r.process.Wait()) }
