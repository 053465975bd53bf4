package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/errgroup"
)

const versionHeader = "Mcp-Protocol-Version"

// Bridge relays MCP between a host on this machine and a server:
//
//	host <- stdio -> Bridge <- POST /mcp -> server
//
// The server has no sessions, so each message has its own connection, and messages are relayed concurrently. The host
// gets an error of HTTP as an error of JSON-RPC with the same text.
type Bridge struct {
	Endpoint string            // URL of the server's /mcp
	HTTP     http.RoundTripper // adds the key; its responses are 202 or hold JSON-RPC
	Log      io.Writer         // gets a line for each failed message

	version atomic.Pointer[string] // of the protocol, as initialize negotiated it
}

// unclosed is a writer that stays open.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// Run relays until the input ends or ctx is done. It answers what it has read before the end of the input.
func (b *Bridge) Run(ctx context.Context, in io.ReadCloser, out io.Writer) error {
	host, err := (&sdk.IOTransport{Reader: in, Writer: unclosed{out}}).Connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = host.Close() }()
	relays, relaying := errgroup.WithContext(ctx)
	for {
		var message jsonrpc.Message
		message, err = host.Read(relaying)
		if err != nil {
			break
		}
		relays.Go(func() error { return b.relay(relaying, host, message) })
	}
	failed := relays.Wait()
	switch {
	case ctx.Err() != nil:
		return nil // the process was asked to end
	case failed != nil:
		return fmt.Errorf("write to standard output: %w", failed)
	case errors.Is(err, io.EOF):
		return nil
	}
	return fmt.Errorf("standard input is not MCP, one JSON-RPC message a line: %w", err)
}

// relay sends a message to the server, and the server's answer or an error to the host.
func (b *Bridge) relay(ctx context.Context, host sdk.Connection, message jsonrpc.Message) error {
	request, ok := message.(*jsonrpc.Request)
	if !ok {
		return nil // a response of the host: the server has sent no request
	}
	answer, err := b.send(ctx, request)
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(b.Log, "hippocampus: %s: %v\n", request.Method, err)
	}
	if !request.IsCall() {
		return nil
	}
	if err != nil {
		answer = &jsonrpc.Response{ID: request.ID, Error: err}
	}
	return host.Write(ctx, answer)
}

// send returns the server's answer; nil to a notification. Errors: a jsonrpc.Error for the host.
func (b *Bridge) send(ctx context.Context, request *jsonrpc.Request) (jsonrpc.Message, error) {
	server, err := b.transport().Connect(ctx)
	if err != nil {
		return nil, errorOf(err)
	}
	defer func() { _ = server.Close() }()
	if err := server.Write(ctx, request); err != nil {
		return nil, errorOf(err)
	}
	if !request.IsCall() {
		return nil, nil
	}
	answer, err := server.Read(ctx)
	if err != nil {
		return nil, errorOf(err)
	}
	if response, ok := answer.(*jsonrpc.Response); ok && request.Method == "initialize" {
		var result sdk.InitializeResult
		if json.Unmarshal(response.Result, &result) == nil {
			b.version.Store(&result.ProtocolVersion)
		}
	}
	return answer, nil
}

// errorOf returns an error of JSON-RPC with the text of an error of HTTP.
func errorOf(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err // the rest names the transport
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
}

// transport returns the client's side of the protocol.
func (b *Bridge) transport() *sdk.StreamableClientTransport {
	return &sdk.StreamableClientTransport{
		Endpoint: b.Endpoint, HTTPClient: &http.Client{Transport: b}, MaxRetries: -1, DisableStandaloneSSE: true,
	}
}

// RoundTrip implements http.RoundTripper: it adds the negotiated version.
func (b *Bridge) RoundTrip(r *http.Request) (*http.Response, error) {
	if version := b.version.Load(); version != nil && r.Header.Get(versionHeader) == "" {
		r = r.Clone(r.Context())
		r.Header.Set(versionHeader, *version)
	}
	return b.HTTP.RoundTrip(r)
}
