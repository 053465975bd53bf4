package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Recorder passes the requests of a server on to an endpoint of a model and keeps
// the prompts that it answers. Refused requests are passed on without being kept.
type Recorder struct {
	server *httptest.Server

	mu   sync.Mutex
	kept Recording
}

// NewRecorder starts a recorder for the endpoint at a base URL, which ends in /v1 if
// the endpoint has it.
func NewRecorder(endpoint string) (*Recorder, error) {
	base, err := url.Parse(endpoint)
	if err != nil || base.Host == "" {
		return nil, fmt.Errorf("%q is not the base URL of an endpoint, such as http://127.0.0.1:8089/v1", endpoint)
	}
	r := &Recorder{}
	r.server = httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(base)
			p.Out.Header.Del("Accept-Encoding") // so that the transport decompresses
		},
		Transport: r,
	})
	return r, nil
}

// Close stops the recorder.
func (r *Recorder) Close() { r.server.Close() }

// URL is the base URL for the server.
func (r *Recorder) URL() string { return r.server.URL }

// Recording returns the calls that were recorded so far.
func (r *Recorder) Recording() Recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.kept
	kept.Calls = slices.Clone(kept.Calls)
	return kept
}

// RoundTrip sends a request to the endpoint, and keeps a prompt with its answer.
func (r *Recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	var sent []byte
	var err error
	if request.Body != nil {
		if sent, err = io.ReadAll(request.Body); err != nil {
			return nil, err
		}
		request.Body = io.NopCloser(bytes.NewReader(sent))
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil || response.StatusCode != http.StatusOK || !strings.HasSuffix(request.URL.Path, completions) {
		return response, err
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(got))
	r.keep(sent, got)
	return response, nil
}

// completions ends the path of a request to a chat model.
const completions = "/chat/completions"

// chatRequest is the part of a request that identifies its prompt.
type chatRequest struct {
	Model    string    `json:"model"`
	Messages []Message `json:"messages"`
}

// keep adds a call, unless the answer has no text.
func (r *Recorder) keep(sent, got []byte) {
	var asked chatRequest
	var answered struct {
		Choices []struct {
			Message Message `json:"message"`
		} `json:"choices"`
	}
	if json.Unmarshal(sent, &asked) != nil || json.Unmarshal(got, &answered) != nil || len(answered.Choices) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept.Model = asked.Model
	r.kept.add(asked.Messages, answered.Choices[0].Message.Content)
}
