// Package loopback sends requests to the API within the process, for the adapters of other protocols:
//
//	key of the context, method, path, value -> /v1 -> value, or a Refusal
package loopback

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"hippocampus/server/frame"
)

// Refusal is an answer of the API other than success.
type Refusal struct {
	Status  int
	Header  http.Header
	Problem frame.Problem // empty if the answer is no problem document
}

// Error returns what happened and what to do.
func (r *Refusal) Error() string {
	if r.Problem.Detail == "" {
		return fmt.Sprintf("the API answers with status %d", r.Status)
	}
	return r.Problem.Detail
}

// Call sends a request to v1 as the key of ctx and decodes the answer into a value; a *string receives the answer
// unchanged. Either value may be nil.
func Call(ctx context.Context, v1 http.Handler, method, path string, body, into any) error {
	var sent io.Reader = http.NoBody
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("write the request to %s: %w", path, err)
		}
		sent = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, path, sent)
	if err != nil {
		return fmt.Errorf("write the request to %s: %w", path, err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response := &recorder{header: http.Header{}, status: http.StatusOK}
	v1.ServeHTTP(response, request)
	if response.status >= http.StatusMultipleChoices {
		refusal := &Refusal{Status: response.status, Header: response.header}
		_ = json.Unmarshal(response.body.Bytes(), &refusal.Problem) // the status says enough
		return refusal
	}
	if into == nil {
		return nil
	}
	if text, isText := into.(*string); isText {
		*text = response.body.String()
		return nil
	}
	if err := json.Unmarshal(response.body.Bytes(), into); err != nil {
		return fmt.Errorf("read the answer of %s: %w", path, err)
	}
	return nil
}

// recorder keeps a response.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }
