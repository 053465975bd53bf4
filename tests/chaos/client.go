package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// requestTimeout is longer than the server takes for any request, however its stores hang.
const requestTimeout = 90 * time.Second

// Client calls the servers in turn. Unlike the clients of measurements, it never repeats a request,
// since the ledger has to know each one.
type Client struct {
	addresses []string
	calls     atomic.Uint64
	key       string
	http      http.Client
}

// NewClient calls the servers at each HOST:PORT.
func NewClient(addresses []string, key string) *Client {
	return &Client{addresses: addresses, key: key, http: http.Client{Timeout: requestTimeout}}
}

// answer is an answer, or the reason why there is no answer.
type answer struct {
	status   int // 0: there is no answer
	body     []byte
	revision string // of a file
	err      error
}

// outcome returns the outcome of the request according to the answer.
func (a answer) outcome() Outcome {
	var dial *net.OpError
	switch {
	case errors.As(a.err, &dial) && dial.Op == "dial":
		return Refused // it was never sent
	case a.status == 0 || a.status >= 500:
		return Unknown
	case a.status >= 400:
		return Refused
	}
	return Acknowledged
}

// text returns the shortened error.
func (a answer) text() string {
	switch {
	case a.err != nil:
		return a.err.Error()
	case a.status >= 400:
		return string(a.body[:min(len(a.body), 500)])
	}
	return ""
}

// Do sends a request. A body of type string is sent as NDJSON, one of type markdown as a file, others as JSON.
func (c *Client) Do(ctx context.Context, method, path string, body any) answer {
	media, revision := "application/json", ""
	var text []byte
	switch b := body.(type) {
	case nil:
	case string:
		media, text = "application/x-ndjson", []byte(b)
	case markdown:
		media, revision = "text/markdown", b.revision
		text = []byte(b.text)
	default:
		var err error
		if text, err = json.Marshal(body); err != nil {
			return answer{err: err}
		}
	}
	address := c.addresses[c.calls.Add(1)%uint64(len(c.addresses))]
	request, err := http.NewRequestWithContext(ctx, method, "http://"+address+path, bytes.NewReader(text))
	if err != nil {
		return answer{err: err}
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	if body != nil {
		request.Header.Set("Content-Type", media)
	}
	if revision != "" {
		request.Header.Set("If-Match", revision)
	}
	reply, err := c.http.Do(request)
	if err != nil {
		return answer{err: err}
	}
	defer reply.Body.Close()
	content, err := io.ReadAll(reply.Body)
	if err != nil {
		return answer{err: err}
	}
	return answer{status: reply.StatusCode, body: content, revision: reply.Header.Get("ETag")}
}

// Get returns the body of an answer of status 200.
func (c *Client) Get(ctx context.Context, path string) ([]byte, error) {
	a := c.Do(ctx, http.MethodGet, path, nil)
	if a.outcome() != Acknowledged {
		return nil, fmt.Errorf("GET %s: status %d: %s", path, a.status, a.text())
	}
	return a.body, nil
}

// GetJSON decodes the body of an answer of status 200.
func (c *Client) GetJSON(ctx context.Context, path string, out any) error {
	body, err := c.Get(ctx, path)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, out)
}
