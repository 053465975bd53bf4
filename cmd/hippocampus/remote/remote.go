// Package remote sends the requests of commands to a server:
//
//	method, path, body -> Server -> answer, or a Refusal or Unreachable in one line with the remedy
package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"hippocampus/cmd/hippocampus/exit"
)

// Server is a running server.
type Server struct {
	Base      string // http://HOST:PORT
	Key       string // may be empty
	KeySource string // where the key comes from, for messages
	Name      string // in messages; empty: Base

	Client *http.Client // nil: a connection for each request
}

// New returns the server at a URL.
func New(base string) (Server, error) {
	s := Server{Base: strings.TrimRight(base, "/")}
	if u, err := url.Parse(s.Base); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return s, exit.Usagef("--url %q is not an address: give one such as http://localhost:8080", s.Base)
	}
	return s, nil
}

func (s Server) name() string {
	if s.Name != "" {
		return s.Name
	}
	return s.Base
}

// callTimeout bounds the time of a Call. A turn that waits to be processed takes the longest.
const callTimeout = 2 * time.Minute

// Call sends a value as JSON, or no body if it is nil, and returns the JSON of a successful response.
func (s Server) Call(ctx context.Context, method, path string, body any) (json.RawMessage, error) {
	limited, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("write the request: %w", err)
		}
		sent = bytes.NewReader(raw)
	}
	answer, err := s.SendAs(limited, method, path, "application/json", sent)
	if err != nil {
		if limited.Err() != nil && ctx.Err() == nil {
			return nil, s.Unreachable(fmt.Errorf("within %s", callTimeout))
		}
		return nil, err
	}
	defer answer.Close()
	raw, err := io.ReadAll(answer)
	switch {
	case err != nil:
		return nil, s.Unreachable(fmt.Errorf("the answer broke off: %w", err))
	case !json.Valid(raw):
		return nil, fmt.Errorf("%s does not answer with JSON and is not a Hippocampus server: check --url", s.name())
	}
	return bytes.TrimSpace(raw), nil
}

// Send sends NDJSON, or no body if it is nil, and returns the body of a successful response.
func (s Server) Send(ctx context.Context, method, path string, body io.Reader) (io.ReadCloser, error) {
	return s.SendAs(ctx, method, path, "application/x-ndjson", body)
}

// SendAs is Send for a body of another type.
func (s Server) SendAs(ctx context.Context, method, path, media string, body io.Reader) (io.ReadCloser, error) {
	header := http.Header{}
	if body != nil {
		header.Set("Content-Type", media)
	}
	response, err := s.Ask(ctx, method, path, header, body)
	switch {
	case err != nil:
		return nil, err
	case response.StatusCode/100 == 2:
		return response.Body, nil
	}
	defer response.Body.Close()
	return nil, s.Refusal(response)
}

// The bounds of the repetitions of a GET.
const (
	repetitions = 2
	longestWait = 10 * time.Second // a longer Retry-After ends them
)

// Ask sends a request and returns the response, whatever its status. The caller closes its body. A GET that the server
// refuses as too much for now (429, 503) is repeated after Retry-After.
func (s Server) Ask(
	ctx context.Context, method, path string, header http.Header, body io.Reader,
) (*http.Response, error) {
	for sent := 0; ; sent++ {
		response, err := s.ask(ctx, method, path, header, body)
		if err != nil || method != http.MethodGet || sent == repetitions {
			return response, err
		}
		wait, refused := retryAfter(response)
		if !refused || wait > longestWait {
			return response, nil
		}
		response.Body.Close()
		select {
		case <-time.After(wait):
		case <-ctx.Done(): // the next request fails because of it
		}
	}
}

// retryAfter returns the seconds of Retry-After, and whether the server refuses the request for now and states them.
func retryAfter(response *http.Response) (time.Duration, bool) {
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		seconds, err := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 16)
		return time.Duration(seconds) * time.Second, err == nil
	}
	return 0, false
}

func (s Server) ask(
	ctx context.Context, method, path string, header http.Header, body io.Reader,
) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.Base+path, body)
	if err != nil {
		return nil, err
	}
	request.Header = header
	if s.Key != "" {
		request.Header.Set("Authorization", "Bearer "+s.Key)
	}
	response, err := s.client().Do(request)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, errors.New("interrupted: the server keeps what it has done")
	case err != nil:
		return nil, s.Unreachable(err)
	}
	return response, nil
}

func (s Server) client() *http.Client {
	if s.Client != nil {
		return s.Client
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true // most commands send one request
	return &http.Client{Transport: transport, CheckRedirect: sameHost}
}

// sameHost refuses redirects to another host: net/http would send the key to its subdomains.
func sameHost(next *http.Request, sent []*http.Request) error {
	if next.URL.Host != sent[0].URL.Host {
		return fmt.Errorf("it redirects to %s: give that address with --url", next.URL.Host)
	}
	return nil
}
